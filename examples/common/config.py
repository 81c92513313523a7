"""config.json of a model's folder."""
import json


def read(path, needed):
    """The object in the file; ValueError where it is none, or a key of `needed` is missing."""
    with open(path, encoding="utf-8") as f:
        try:
            c = json.load(f)
        except ValueError as e:
            raise ValueError(f"{path}: {e}") from None
    missing = [key for key in needed if not isinstance(c, dict) or key not in c]
    if missing:
        raise ValueError(f"{path}: no {missing[0]}")
    return c
