"""Runs programs with a limit on the size of files, like on a full disk."""
import resource
import signal
import os


def limited(most, env=None):
    """Arguments {preexec_fn, env} of subprocess.run for a program whose files have at most `most` bytes; None: any
    size. With HX_LIMIT_LIBRARY in the environment (limit_files.c: builds with ThreadSanitizer) the limit is set by the
    program's constructors, otherwise before the program starts."""
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
