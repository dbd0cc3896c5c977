"""Reads the arguments, does one of the three things that are asked for, and prints what came of it.

Knows no format, no template and no model: `rows`, `templates`, `step` and `loss` do.
"""
import argparse
import sys
from pathlib import Path

import runs
from tables import table

ROOT = Path(__file__).resolve().parents[2]


def arguments():
    parser = argparse.ArgumentParser(
        prog="train-ready.sh", description="Is the data that condenser writes for training ready to train on?"
    )
    parser.add_argument("runs", nargs="*", type=Path, metavar="RUN", help="runs of dataset jobs; none: the sample corpus")
    parser.add_argument("--no-step", action="store_true", help="take no step of training")
    parser.add_argument("--loss", type=Path, metavar="MODEL_DIR", help="measure the loss with the model of this folder")
    parser.add_argument("--turns", type=int, default=40, help="with --loss: turns that are measured (40)")
    parser.add_argument("--window", type=int, default=4096, help="with --loss: most tokens of context and turn (4096)")
    parser.add_argument("--half", action="store_true", help="with --loss: weights in 16 bits, twice as fast where the CPU has them")
    parser.add_argument("--model-from-registry", type=Path, metavar="DIR", help="put a small model into this folder")
    return parser.parse_args()


def check(named, with_step):
    """Loads every run and renders the rows of those for trl; returns the exit code."""
    import proof
    import rows
    import templates

    proof.demand()
    given = [(runs.target_of(run), run) for run in named] or runs.of_sample(ROOT, templates.FOLDER / "qwen3_training.jinja")
    loaded = [rows.load(target, run) for target, run in given]
    print(table(["target", "run", "train", "eval", "problems"],
                [[one.target, one.run.name, one.n_rows("train"), one.n_rows("eval"), len(one.problems)] for one in loaded]))
    problems = [f"{one.run}: {problem}" for one in loaded for problem in one.problems]
    messages = [row for one in loaded if one.target == "trl" for row in one.conversations()]
    if messages:
        found = [templates.render_all(family, messages) for family in templates.FAMILIES]
        print()
        print(table(["template", "rows", "rendered", "in part", "refused", "reasoning kept", "problems"],
                    [one.cells() for one in found]))
        problems += [f"{one.family.name}: {problem}" for one in found for problem in one.problems]
        print()
        for one in found:
            if one.family.why:
                print(f"{one.family.name}: its template {one.family.why}.")
    else:
        print("No run for trl is among them: nothing was rendered and no step was taken.")
    if messages and with_step:
        import step

        minding = [(one, runs.training_template(one.run)) for one in loaded if one.target == "trl"]
        minding = [(one, template) for one, template in minding if template]
        for one, template in minding:
            n_masked, found = step.masks(list(one.conversations()), template)
            print(f"{one.run.name}: {n_masked} turns that are not for learning, {len(found)} problems with the marks of its template.")
            problems += found
        told, problem = step.take(messages, minding[0][1] if minding else None)
        print()
        print(told)
        problems += [problem] if problem else []
    sys.stdout.flush()
    for problem in problems[:20]:
        print(f"problem: {problem}", file=sys.stderr)
    if len(problems) > 20:
        print(f"problem: … and {len(problems) - 20} more", file=sys.stderr)
    return 1 if problems else 0


def measure(options):
    """Prints what a turn costs a model with each context; returns the exit code."""
    if not options.loss.is_dir():
        print(f"error: {options.loss} is no folder with a causal language model: `scripts/train-ready.sh "
              "--model-from-registry DIR` gets a small one", file=sys.stderr)
        return 2
    if len(options.runs) > 1:
        print("error: --loss takes one RUN", file=sys.stderr)
        return 2
    import loss

    run = options.runs[0] if options.runs else runs.one_of_sample(ROOT)
    return loss.measure(options.loss, run, runs.without_compaction(ROOT, run), options.turns, options.window, options.half)


def main():
    options = arguments()
    if options.model_from_registry:
        import registry

        return registry.put_model(options.model_from_registry)
    if options.loss:
        return measure(options)
    return check(options.runs, not options.no_step)


if __name__ == "__main__":
    sys.exit(main())
