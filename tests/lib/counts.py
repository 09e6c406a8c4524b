"""Counts of tests in Python: checks, and failed checks."""

n_check = n_failed = 0


def check(condition, text):
    global n_check, n_failed
    n_check += 1
    if not condition:
        n_failed += 1
        print(f"failed: {text}")


def result():
    """Prints the counts; returns the exit status of the test."""
    print(f"{n_check} checks, {n_failed} failed")
    return 1 if n_failed or not n_check else 0
