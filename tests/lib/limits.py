"""Programs whose files are limited, as on a full disk."""
import resource
import signal
import os


def limited(most, env=None):
    """For subprocess.run: {preexec_fn, env} of a program whose files have `most` bytes at most; None: any. With
    HX_LIMIT_LIBRARY in the environment (limit_files.c: builds of ThreadSanitizer) the limit begins with the program's
    own constructors, else with the program."""
    env = dict(os.environ if env is None else env)
    library = env.get("HX_LIMIT_LIBRARY")
    if most is None:
        return {"env": env}
    if library:
        env.update(LD_PRELOAD=library, HX_LIMIT_FILES=str(most))
        return {"env": env}

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    return {"env": env, "preexec_fn": limit}
