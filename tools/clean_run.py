"""Running the program as a stranger would find it: an empty home, no colour, a fixed width, zone and language."""
import os

# Settings of the sanitizers are about the build, not about the user.
KEPT = ("ASAN_OPTIONS", "LSAN_OPTIONS", "UBSAN_OPTIONS")


def clean_environment(home, path="/usr/bin:/bin"):
    env = {name: os.environ[name] for name in KEPT if name in os.environ}
    env.update(PATH=path, HOME=home, TMPDIR=home, NO_COLOR="1", COLUMNS="100", TZ="UTC", LC_ALL="C", TERM="dumb")
    for name in ("CONFIG", "CACHE", "DATA", "STATE"):
        env[f"XDG_{name}_HOME"] = os.path.join(home, name.lower())
    env["XDG_CONFIG_DIRS"] = env["XDG_DATA_DIRS"] = os.path.join(home, "system")
    return env
