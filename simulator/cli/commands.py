"""The commands and their options. What a command does is loaded when it is called, so that the others start fast."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from .. import __version__
from .interrupts import raising
from .names import complete_reference, complete_run, complete_scenario
from .panels import PanelCommand
from .places import RECORDINGS
from .streams import tell, write

__all__ = ["app"]

app = typer.Typer(
    name="simulator",
    help="Replay scripted, document-grounded conversations against a model, and see turn by turn what changed.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

# Options and arguments, each declared once. A panel is a heading of the help.

_RUN = "Run"
_MODEL = "Model that answers"
_CHECKER = "Model that checks, by default the one that answers"
_SERVER = "Server"
_STAGES = "Stages"
_COMPARISON = "Comparison with an earlier run"


def _not_blank(text: str | None) -> str | None:
    if text is not None and not text.strip():
        raise typer.BadParameter("it is empty; write a name, or leave the option out")
    return text


def _in(panel: str, *names: str, help: str, **more: Any) -> Any:  # noqa: A002 - as typer calls it
    return typer.Option(*names, help=help, rich_help_panel=panel, **more)


def _seconds(help: str) -> Any:  # noqa: A002 - as typer calls it
    return _in(_SERVER, min=0.1, max=86_400, metavar="SECONDS", help=help)


ScenarioNames = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="SCENARIO",
        help="Names or YAML files; none: all of them, for replay those of the suite.",
        autocompletion=complete_scenario,
        rich_help_panel="Arguments",
    ),
]
RunReference = Annotated[
    str,
    typer.Argument(
        metavar="RUN[:SCENARIO[#ATTEMPT]]",
        help="A run by its name, LAST or PREVIOUS; one scenario of it; one attempt, from 1.",
        autocompletion=complete_reference,
    ),
]
Scenarios = Annotated[
    Path | None,
    typer.Option(
        "--scenarios",
        metavar="DIR",
        help="Folder of the scenarios; by default ./scenarios, and for names that it lacks the one that ships.",
    ),
]
Templates = Annotated[Path | None, typer.Option("--templates", metavar="DIR", help="Folder of the prompt templates.")]
Recordings = Annotated[Path, typer.Option("--recordings", metavar="DIR", help="Folder of the runs.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a page.")]
Turns = Annotated[list[int] | None, typer.Option("--turn", metavar="T", help="Only this turn; may be repeated.")]

Attempts = Annotated[int, _in(_RUN, "-n", "--attempts", min=1, max=100_000, help="Attempts of each scenario.")]
SuiteName = Annotated[
    str | None, _in(_RUN, metavar="NAME", help="The suite that is played without a SCENARIO; by default parks.")
]
RunName = Annotated[
    str | None, _in(_RUN, metavar="NAME", help="Name of the run, a new one; by default its date and time.")
]
RunSeed = Annotated[
    int | None,
    _in(_RUN, min=0, max=2**53, help="Seed of the run, from which every call's is derived; by default drawn."),
]
Concurrency = Annotated[
    int | None,
    _in(_RUN, min=1, max=256, help="Conversations side by side; by default 4, and 2 on the embedded server."),
]

ModelName = Annotated[
    str | None,
    _in(
        _MODEL,
        metavar="NAME|FILE",
        callback=_not_blank,
        help="A model of the endpoint, or a GGUF file to embed; by default the only one there is.",
    ),
]
EndpointUrl = Annotated[
    str | None,
    _in(
        _MODEL,
        metavar="URL",
        help="OpenAI-compatible server, such as http://localhost:11434/v1; by default the embedded one.",
    ),
]
ApiKeyEnv = Annotated[
    str, _in(_MODEL, metavar="NAME", help="Environment variable that holds the API key, if the server wants one.")
]
Temperature = Annotated[
    float | None,
    _in(_MODEL, min=0.0, help="How freely the next token is drawn, 0 for always the likeliest; not sent unless given."),
]
TopP = Annotated[
    float | None,
    _in(_MODEL, min=0.0, max=1.0, help="Share of the probability that tokens are drawn from; not sent unless given."),
]
MaxTokens = Annotated[
    int | None,
    _in(
        _MODEL,
        min=1,
        help="Tokens of a reply at most; not sent unless given. The small embedded model then stops after 192, "
        "another embedded one after 512.",
    ),
]
Param = Annotated[
    list[str] | None,
    _in(_MODEL, metavar="K=V", help="A further field of the request; V is JSON or a text. May be repeated."),
]

CheckerModelName = Annotated[
    str | None,
    _in(
        _CHECKER,
        metavar="NAME|FILE",
        callback=_not_blank,
        help="A model of the checker's endpoint, or a GGUF file.",
    ),
]
CheckerEndpointUrl = Annotated[str | None, _in(_CHECKER, metavar="URL", help="The checker's server.")]
CheckerApiKeyEnv = Annotated[
    str | None,
    _in(
        _CHECKER,
        metavar="NAME",
        help="Environment variable that holds the key of the checker's server; by default --api-key-env.",
    ),
]
CheckerTemperature = Annotated[
    float | None, _in(_CHECKER, min=0.0, help="As --temperature, whose value it does not take over.")
]
CheckerTopP = Annotated[
    float | None, _in(_CHECKER, min=0.0, max=1.0, help="As --top-p, whose value it does not take over.")
]
CheckerMaxTokens = Annotated[
    int | None, _in(_CHECKER, min=1, help="As --max-tokens, whose value it does not take over.")
]
CheckerParam = Annotated[list[str] | None, _in(_CHECKER, metavar="K=V", help="As --param, for checks alone.")]

SendSeed = Annotated[bool, _in(_SERVER, "--seed-field/--no-seed-field", help="Whether calls carry a seed.")]
MaxTokensField = Annotated[
    Literal["max_tokens", "max_completion_tokens"],
    _in(_SERVER, help="What the server calls the limit of --max-tokens."),
]
ResponseFormat = Annotated[
    Literal["json_schema", "none"], _in(_SERVER, help="Whether the check asks the server for a JSON schema.")
]
FoldSystem = Annotated[
    bool,
    _in(
        _SERVER,
        "--fold-system",
        help="Put the system text into the first customer message, for a model without a system role.",
    ),
]
Timeout = Annotated[float, _seconds("For one try of a call.")]
Deadline = Annotated[float, _seconds("For a call with all its tries and the waits between them.")]
Tries = Annotated[int, _in(_SERVER, min=1, max=20, help="Tries of one call at most.")]
Threads = Annotated[
    int | None,
    _in(
        _SERVER,
        min=1,
        max=1024,
        help="That the embedded server computes with; by default as many as there are cores.",
    ),
]

Check = Annotated[
    Literal["evidence", "judge", "both"] | None,
    _in(
        _STAGES,
        help="What reads a reply against the document: rules without a model, a judge, or both; by default "
        "evidence, and both where a checker is named.",
    ),
]
JudgeCalibration = Annotated[
    Path | None,
    _in(
        _STAGES,
        metavar="FILE",
        help="What the judge's P(supported) comes to, a file of `calibrate --fit`; by default its word counts.",
    ),
]
Control = Annotated[
    bool,
    _in(
        _STAGES,
        "--control",
        help="Also run the document check on conversation turns, unscored, to count its false alarms.",
    ),
]
OnUnsupported = Annotated[
    Literal["flag", "suppress", "rewrite"],
    _in(
        _STAGES,
        help="What becomes of an unsupported reply: marked for a human, its sentence cut out, or written anew.",
    ),
]
Route = Annotated[
    Literal["tagged", "all"],
    _in(_STAGES, help="Which turns the document check sees: those tagged answer_from: document, or all."),
]
History = Annotated[
    Literal["original", "delivered"],
    _in(_STAGES, help="What later turns see: the model's reply, or what the customer got."),
]

Against = Annotated[
    str | None,
    _in(
        _COMPARISON,
        metavar="RUN",
        help="The run to compare with; by default the newest earlier one that holds the scenario.",
        autocompletion=complete_run,
    ),
]
ReplayFailOn = Annotated[
    Literal["regression"] | None, _in(_COMPARISON, help="Exit with 1 if the comparison shows one.")
]


def _call(module: str, **options: Any) -> int:
    """Run the command that *module* holds; it returns the exit status."""
    run = import_module(f".{module}", __package__).run
    try:
        with raising():
            return run(**options)
    except KeyboardInterrupt:
        raise typer.Abort from None  # the library would take it for an ordinary end


def _version(value: bool) -> None:
    if value:
        write(f"simulator {__version__}\n")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def simulator(
    ctx: typer.Context,
    version: Annotated[  # noqa: ARG001 - its callback has acted by then
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> int:
    """Replay scripted, document-grounded conversations against a model, and see turn by turn what changed."""
    if ctx.invoked_subcommand is None:
        tell(ctx.get_help())
        raise typer.Exit(2)
    return 0


@app.command(cls=PanelCommand)
def replay(
    scenario: ScenarioNames = None,
    attempts: Attempts = 1,
    suite: SuiteName = None,
    run: RunName = None,
    seed: RunSeed = None,
    concurrency: Concurrency = None,
    model: ModelName = None,
    endpoint: EndpointUrl = None,
    api_key_env: ApiKeyEnv = "SIMULATOR_API_KEY",
    temperature: Temperature = None,
    top_p: TopP = None,
    max_tokens: MaxTokens = None,
    param: Param = None,
    checker_model: CheckerModelName = None,
    checker_endpoint: CheckerEndpointUrl = None,
    checker_api_key_env: CheckerApiKeyEnv = None,
    checker_temperature: CheckerTemperature = None,
    checker_top_p: CheckerTopP = None,
    checker_max_tokens: CheckerMaxTokens = None,
    checker_param: CheckerParam = None,
    send_seed: SendSeed = True,
    max_tokens_field: MaxTokensField = "max_tokens",
    response_format: ResponseFormat = "json_schema",
    fold_system: FoldSystem = False,
    timeout: Timeout = 120.0,
    deadline: Deadline = 300.0,
    tries: Tries = 4,
    threads: Threads = None,
    check: Check = None,
    judge_calibration: JudgeCalibration = None,
    control: Control = False,
    on_unsupported: OnUnsupported = "suppress",
    route: Route = "tagged",
    history: History = "original",
    against: Against = None,
    fail_on: ReplayFailOn = None,
    scenarios: Scenarios = None,
    templates: Templates = None,
    recordings: Recordings = RECORDINGS,
    json: Json = False,
) -> int:
    """Play scenarios against a model, record every call, and say what came of it."""
    return _call("playing", **locals())


@app.command()
def show(
    reference: RunReference,
    turn: Turns = None,
    request: Annotated[
        Literal["answer", "check", "rewrite", "recheck"] | None,
        typer.Option(metavar="STAGE", help="Print the exact request of this stage, as JSON; needs --turn."),
    ] = None,
    repeat: Annotated[int, typer.Option(min=0, help="Which call of the stage, where it was asked again.")] = 0,
    recordings: Recordings = RECORDINGS,
    json: Json = False,
) -> int:
    """Print the transcript of an attempt, the table of a run, or the exact request of a call."""
    return _call("showing", **locals())


@app.command()
def diff(
    a: Annotated[
        str,
        typer.Argument(
            metavar="A",
            help="What was before: RUN, RUN:SCENARIO or RUN:SCENARIO#ATTEMPT.",
            autocompletion=complete_reference,
        ),
    ],
    b: Annotated[str, typer.Argument(metavar="B", help="What is now, named alike.", autocompletion=complete_reference)],
    only: Annotated[Literal["regressions"] | None, typer.Option(help="Leave everything else out.")] = None,
    fail_on: Annotated[Literal["regression"] | None, typer.Option(help="Exit with 1 if there is one.")] = None,
    recordings: Recordings = RECORDINGS,
    json: Json = False,
) -> int:
    """Say, turn by turn, what differs: between two attempts in words, between two runs in counts."""
    return _call("diffing", **locals())


@app.command()
def lint(
    files: ScenarioNames = None,
    scenarios: Scenarios = None,
    templates: Templates = None,
    json: Json = False,
) -> int:
    """Check that scenarios can be read and make sense; every finding is FILE:LINE."""
    return _call("linting", **locals())


@app.command()
def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Of the scenario, and of its file.")],
    scenarios: Scenarios = None,
) -> int:
    """Write a scenario to start from, which lints and plays as it is."""
    return _call("starting", **locals())


@app.command()
def schema() -> int:
    """Print the JSON Schema of a scenario file, for editors."""
    return _call("schema")


@app.command("list")
def list_(recordings: Recordings = RECORDINGS, json: Json = False) -> int:
    """List the recorded runs, oldest first."""
    return _call("listing", **locals())


@app.command()
def score(
    reference: RunReference,
    worst: Annotated[int, typer.Option(metavar="N", min=0, help="Listed at most of each kind, the worst first.")] = 10,
    everything: Annotated[bool, typer.Option("--all", help="List all of them.")] = False,
    recordings: Recordings = RECORDINGS,
    json: Json = False,
) -> int:
    """Count refusals, quotes and reference answers of a run, and list the answers that no quote carries."""
    return _call("scoring", **locals())


@app.command()
def calibrate(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="Labelled replies, JSONL with document, context, reply and supported."),
    ],
    check: Annotated[
        Literal["evidence", "judge", "both"],
        typer.Option(help="What is measured: rules without a model, a judge, or both together."),
    ] = "evidence",
    calls: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Where the judge's calls are kept; a row that has its call is not asked again."
        ),
    ] = None,
    fit: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write here what the judge's P(supported) comes to, as these rows show it."),
    ] = None,
    judge_calibration: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Measure the judge with this file of an earlier --fit."),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            max=1.0,
            help="Score from which a reply counts as supported; by default 0.5, or the judge's fitted one.",
        ),
    ] = None,
    worst: Annotated[int, typer.Option(metavar="N", min=0, help="Errors listed at most, the worst first.")] = 10,
    seed: Annotated[int, typer.Option(min=0, max=2**53, help="Of the bootstrap, and of the judge's calls.")] = 0,
    model: ModelName = None,
    endpoint: EndpointUrl = None,
    api_key_env: ApiKeyEnv = "SIMULATOR_API_KEY",
    temperature: Temperature = None,
    top_p: TopP = None,
    max_tokens: MaxTokens = None,
    param: Param = None,
    send_seed: SendSeed = True,
    max_tokens_field: MaxTokensField = "max_tokens",
    response_format: ResponseFormat = "json_schema",
    fold_system: FoldSystem = False,
    timeout: Timeout = 120.0,
    deadline: Deadline = 300.0,
    tries: Tries = 4,
    threads: Threads = None,
    templates: Templates = None,
    json: Json = False,
) -> int:
    """Measure a checker on labelled replies: its errors, its figures, and how far these can be trusted."""
    return _call("calibrating", **locals())


import_ = typer.Typer(name="import", help="Make scenarios from the files of a benchmark.")
app.add_typer(import_)


@import_.command()
def squad(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A SQuAD v2.0 file.")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder of the scenarios: a new or an empty one.")],
    questions: Annotated[int, typer.Option(min=2, help="How many, half of them without an answer.")],
    seed: Annotated[int, typer.Option(help="Of the choice; the same seed gives the same questions.")] = 0,
) -> int:
    """Write scenarios of one question each; the passage answers half of them."""
    return _call("importing", **locals())
