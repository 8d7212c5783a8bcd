"""The training loop: forget, forward, backward, step."""


def fit(loss, batches, optimizer):
    """Takes one optimizer step for each batch and returns the loss before each step, as floats.

    A batch is a list of micro-batches, each a sequence of rows; `loss(rows)` is their mean loss as
    a 0-d Tensor.  Their gradients are accumulated before the step, each weighted by its share of
    the rows, so that the step does not depend on how a batch is cut.
    """
    history = []
    for batch in batches:
        optimizer.zero_grad()
        size = sum(len(rows) for rows in batch)
        total = 0.0
        for rows in batch:
            part = loss(rows) * (len(rows) / size)
            part.backward()
            total += part.item()
        optimizer.step()
        history.append(total)
    return history
