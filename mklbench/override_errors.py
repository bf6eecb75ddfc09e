x = 1


def hint(*a):
    return ""


def explain(e, *a):
    return e
