"""Replay scripted, document-grounded conversations against a model, and see turn by turn what changed.

The modules, in reading order; each imports only from those above it.

    errors        what can go wrong, as one tree
    canonical     JSON in one spelling, and the SHA-256 of it
    visible       texts of others made safe to print
    clock         the time, as it stands in a recording
    outcome       what was read of a reply and what was done with it, as values
    estimates     rates, components and tests, as pure functions of counts and arrays
    yamltext      YAML read strictly, every value with its line
    scenario      a scripted conversation, loaded from YAML
    model         messages sent, one reply received
    template      a prompt template, checked and rendered within bounds
    prompt        a turn and its history, rendered to messages
    embedded      a llama.cpp server of our own, as a child process
    evidence      what in the passage carries a claim, read without a model
    calibrate     how good a checker is on labelled replies
    stages        what happens to a reply before the customer sees it
    lint          whether a scenario makes sense
    squad         questions of a SQuAD file, as scenarios
    judged        a judge asked about labelled replies, each of its calls kept
    recording     every call of a run, one line each, never rewritten
    transcript    recorded calls read back into turns
    summary       counts of one attempt and of a run
    score         what an honest summary of answers from documents holds
    replay        the only conductor: prompt, model, stages, recording
    rebuild       the requests of an attempt, built again from what a run says it played
    diff          two transcripts, turn by turn
    report        numbers and pages, computing nothing
    testing       a scripted model and a scripted server, for tests
    cli           the command line
"""

__version__ = "0.1.0"
