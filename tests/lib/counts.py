"""What tests in Python count: checks, and those that failed."""

n_check = n_failed = 0


def check(condition, text):
    global n_check, n_failed
    n_check += 1
    if not condition:
        n_failed += 1
        print(f"failed: {text}")


def result():
    """Prints the numbers; the exit code of the test."""
    print(f"{n_check} checks, {n_failed} failed")
    return 1 if n_failed or not n_check else 0
