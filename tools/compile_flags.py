"""How this build compiles: the compiler and flags of compile_commands.json, for checks that compile on their own."""
import json
import pathlib
import shlex

INCLUDE_FLAGS = ("-I", "-isystem", "-iquote", "-idirafter")


def _words(entry):
    return entry.get("arguments") or shlex.split(entry["command"])


def _include_dirs(words):
    out = []
    for i, word in enumerate(words):
        for flag in INCLUDE_FLAGS:
            if word == flag and i + 1 < len(words):
                out.append((flag, words[i + 1]))
            elif word.startswith(flag) and word != flag:
                out.append((flag, word[len(flag):]))
    return out


def compile_command(build, root):
    """The command without source and outputs: flags of src/base, include folders of everything in src/ together."""
    entries = json.loads((pathlib.Path(build) / "compile_commands.json").read_text())
    src = (pathlib.Path(root) / "src").resolve()
    ours = [e for e in entries if pathlib.Path(e["file"]).resolve().is_relative_to(src)]
    if not ours:
        raise SystemExit("compile_commands.json names no file in src/")
    first = min(ours, key=lambda e: (not pathlib.Path(e["file"]).resolve().is_relative_to(src / "base"), e["file"]))

    words, out, skip = _words(first), [], 0
    for word in words:
        if skip:
            skip -= 1
        elif word in ("-o", "-MF", "-MT", "-MQ", *INCLUDE_FLAGS):
            skip = 1
        elif word in ("-c", "-MD", "-MMD", first["file"]) or word.startswith(INCLUDE_FLAGS):
            pass
        elif word.startswith("-fsanitize"):  # changes no diagnosis, costs time
            pass
        else:
            out.append(word)
    seen = []
    for entry in ours:
        for flag, folder in _include_dirs(_words(entry)):
            folder = str((pathlib.Path(entry["directory"]) / folder).resolve())
            if (flag, folder) not in seen:
                seen.append((flag, folder))
    for flag, folder in seen:
        out += [flag, folder]
    return [*out, "-fsyntax-only"]
