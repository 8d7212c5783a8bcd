"""A small lab made by hand, for tests that need names, shapes and a step."""

from pathlib import Path

from labs.model import Fit, Input, Lab, Loss, Scenario


def scenario(name, inputs, *, loss=Loss.SUM, fit=None, lab="lab02"):
    return Scenario(
        lab=lab,
        name=name,
        title={"en": f"Title of {name}", "es": f"Título de {name}"},
        inputs=inputs,
        loss=loss,
        backward=1,
        fit=fit,
        epsilon=6e-6,
        false_alarms=(),
        vary=True,
        expression="a + b",
        source="",
        digest=f"{name:x<64}"[:64],
        variants=(),
    )


A, B = Input("a", (3,)), Input("b", (4, 3))
SCENARIOS = {
    "created-axis": scenario("created-axis", (A, B)),
    "equal": scenario("equal", (B, Input("a", (4, 3)))),
    "trained": scenario("trained", (A, B), loss=Loss.WEIGHTED, fit=Fit(steps=2)),
}
LAB = Lab(
    id="lab02",
    title={"en": "Broadcasting", "es": "Broadcasting"},
    minutes=10,
    needs=(),
    breaks={
        "skip-unbroadcast": ("created-axis", "equal", "trained"),
        "other-break": ("equal",),
    },
    scenarios=SCENARIOS,
    folder=Path("lab02_broadcasting"),
)
