"""The order in which a graph is walked."""


def topological_order(root):
    """The tensors that `root` was made from and that require a gradient, parents first.

    The stack is a list: the depth of a graph is bounded by memory, not by the recursion limit.
    """
    order, entered, stack = [], set(), [root]
    while stack:
        node = stack.pop()
        if node is None:  # the parents of the one below are in the order
            order.append(stack.pop())
        elif node.requires_grad and node not in entered:
            entered.add(node)
            stack += node, None
            stack += node._prev
    return order
