"""Samples in RUN lines, filled in before lit's own substitutions (docs/guides/testing.md):
`%{20 of 500 mutants}` is 20 or 500; lines that begin with `%{1 in 4}` run in part; `%{from 100}` is the first of random programs.
The compilers of a sample optimise less."""
import os
import random
import re

import lit.Test
import lit.TestRunner
import lit.formats

import sample

AMOUNT = re.compile(r"%\{(\d+) of (\d+) ([^}]+)\}")
PART = re.compile(r"^(%dbg\(.*?\) +)%\{1 in (\d+)\} *")  # lit's note of the line stands before it
FIRST = re.compile(r"%\{from (\d+)\}")
APART = 10000  # distance of the random programs that two seeds begin with
# For whom programs are compiled: the variable that names the compiler, what it is for users and in a sample (a file beside this one), and
# one test in so many that compiles as users do.
COMPILERS = ("host", "CC", "cc", "cc", 4), ("emulator", "TILEC_CLANGXX", "", "cxx", 12)
PAGES = ("docs/tutorials.test", "docs/readme.test", "docs/quickstart.test")  # what users see is compared


def choose_lines(script, name):
    """Without the lines marked `%{1 in N}` that are not drawn; at least one of each mark stays."""
    marks = [PART.match(line) for line in script]
    keep = {i for i, mark in enumerate(marks) if not mark}
    for every in sorted({mark[2] for mark in marks if mark}):
        marked = [i for i, mark in enumerate(marks) if mark and mark[2] == every]
        keep.update(sample.choose(f"RUN lines of {os.path.dirname(name)}", marked, -(-len(marked) // int(every)), name))
    return [PART.sub(r"\1", script[i]) for i in sorted(keep)]


def expand(line):
    line = AMOUNT.sub(lambda m: str(sample.some(m[3], int(m[1]), int(m[2]))), line)
    line = FIRST.sub(lambda m: str(int(m[1]) + APART * (sample.seed() - 1)), line)
    return line.replace("%{seed}", str(sample.seed()))


def compilers(name):
    """Variables of the environment that say what the test's programs are compiled with."""
    env = {}
    for kind, variable, users, samples, every in COMPILERS:
        drawn = sample.everything() or name in PAGES or random.Random(f"{sample.seed()} -O3 {kind} {name}").randrange(every) == 0
        sample.record(f"tests whose programs for the {kind} are compiled as for users", int(drawn), 1)
        env[variable] = users if drawn else os.path.join(os.path.dirname(os.path.abspath(__file__)), samples)
    return env


class Format(lit.formats.ShTest):
    """lit.TestRunner.executeShTest with the two steps above."""

    def execute(self, test, lit_config):
        runner = lit.TestRunner
        script = runner.parseIntegratedTestScript(test)
        if isinstance(script, lit.Test.Result):
            return script
        if lit_config.noExecute:
            return lit.Test.Result(lit.Test.PASS)
        name = "/".join(test.path_in_suite)
        script = [expand(line) for line in choose_lines(script, name)]
        test.config.environment.update(compilers(name))
        folder, base = runner.getTempPaths(test)
        substitutions = runner.getDefaultSubstitutions(test, folder, base)
        script = runner.applySubstitutions(script, substitutions, recursion_limit=test.config.recursiveExpansionLimit)
        return runner._runShTest(test, lit_config, False, script, base)
