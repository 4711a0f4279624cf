"""The mutants by name."""

MUTANTS = {}


def mutant(damage):
    MUTANTS[damage.__name__] = damage
    return damage


def around(owner, name):
    """Replaces a function by one that is given the original first."""

    def replace(function):
        original = getattr(owner, name)
        setattr(owner, name, lambda *args, **kwargs: function(original, *args, **kwargs))

    return replace
