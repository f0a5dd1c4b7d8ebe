"""Every diagnostic code: what it is called and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Code:
    """A kind of mistake."""

    title: str
    explanation: str
    is_warning: bool = False


CODES: dict[str, Code] = {
    "P001": Code(
        "not TOML",
        "The file is no TOML 1.0 in UTF-8, or larger than 256 KiB, or nested too deep. The first such place is shown; nothing else is checked.",
    ),
    "P002": Code("format", "`format = 1` stands at the top and says which version of this file format the pack is written in."),
    "P003": Code("kind", "`[pack] kind` says what the pack holds; the kind decides which other tables may follow."),
    "P010": Code("unknown key", "No such key exists here. Packs refuse unknown keys, so that a typing error cannot silently do nothing."),
    "P011": Code("missing key", "The table lacks a key without which it means nothing."),
    "P012": Code("wrong type", 'The value has another type than the key wants. Nothing is converted: `"3"` is a text, `3` a number.'),
    "P013": Code("not one of the choices", "The key takes one of a few words, and this is none of them."),
    "P014": Code(
        "out of range", "The number, text or list is smaller, larger, shorter or longer than it may be, or a text does not have the form that the key wants."
    ),
    "P015": Code(
        "name of a pack", "A pack is called `namespace/name`; both parts are lower-case letters and digits with single hyphens, at most 64 characters."
    ),
    "P016": Code("version", "A version is `MAJOR.MINOR.PATCH`, with `-pre.1` or the like where it comes before a release."),
    "P017": Code(
        "version requirement", "A requirement is `^1.0` (compatible), `~1.2` (same minor), `=1.2.3`, `*`, or comparisons joined by commas: `>=1.0, <1.4`."
    ),
    "P018": Code(
        "name inside a pack",
        "Dimensions, dtype variables, flags, scalars and tensors become parameters in Python and C: a letter, then letters, digits and underscores.",
    ),
    "P020": Code(
        "declared twice",
        "Dimensions, dtype variables, flags, scalars and tensors share one space of names, and cases and examples one each; a name can be given once.",
    ),
    "P021": Code(
        "reserved name", "The name has a meaning of its own: a keyword of Python, a function of expressions, a dtype, or a key of cases such as `id`."
    ),
    "P022": Code("unknown dtype", "The dtype is neither a variable of `[op.dtypes]` nor a dtype that taskpack knows."),
    "P030": Code("not an expression", "Expressions are a subset of Python's: see the page on expressions."),
    "P031": Code(
        "unknown name in an expression",
        "The expression uses a name that does not exist there. Shapes, costs and constraints see dimensions, dtype variables, flags and scalars; "
        "invariants see inputs, too; a derived input sees those before it.",
    ),
    "P032": Code("types in an expression", "The parts of an expression do not fit together, or its value has another type than the key wants."),
    "P033": Code(
        "an expression without a value",
        "For one of the cases the expression divides by zero, takes the root of a negative number or the like, or a size comes out negative.",
    ),
    "P040": Code("missing file", "A file or folder that the pack names does not exist. Names are relative to the pack's folder."),
    "P041": Code("outside the pack", "A pack holds every file that it names: no absolute path, no `..`, no backslash, and no symbolic link that leads out."),
    "P042": Code("file.py:function", "References and generators are named as `file.py:function`."),
    "P043": Code("missing function", "The Python file has no function of that name at its top level. It is looked for without running the file."),
    "P044": Code("not Python", "The file cannot be parsed as Python."),
    "P045": Code(
        "unknown parameter",
        "References and generators are called by keyword, with what they name as parameters: inputs (references only), "
        "dimensions, dtype variables, flags and scalars (and `seed`, for generators).",
    ),
    "P050": Code("nothing to compute", "An op has at least one output or inout."),
    "P051": Code("one init", "`init` holds exactly one key, which says how the values are made."),
    "P052": Code("init does not fit", "The values that this init makes do not go with the tensor's dtype or shape, or its bounds leave no value."),
    "P053": Code("generator", "`init = { generator = true }` and the op's `generator` go together: each needs the other."),
    "P054": Code("count", "`count` names another output, of dtype int32 or int64 and shape `[]`, whose value is the number of valid rows."),
    "P055": Code("edges", "Edge distributions are distributions of floating values."),
    "P056": Code(
        "tolerance without a reason",
        "Default tolerances follow from dtype and reduction length. An override says why they do not do, for those who must trust the verdict.",
    ),
    "P057": Code("tolerance for nothing", "`[op.tolerance.output.<name>]` names an output or inout."),
    "P058": Code("value of a scalar", "The value is none that the scalar's dtype has."),
    "P060": Code("no case", "An op has at least one `[[op.case]]`."),
    "P061": Code("incomplete case", "Every case and every unseen table gives a value to each dimension and dtype variable."),
    "P062": Code("unknown name in a case", "The case gives a value to something that the op does not declare."),
    "P063": Code(
        "value in a case",
        "The value does not go with the name: dimensions are whole numbers from 0 to 2**63 - 1, dtype variables one of their dtypes, flags true or false.",
    ),
    "P064": Code("broken constraint", "One of the op's constraints does not hold for this case."),
    "P065": Code("rule of a draw", "A rule is `{ choice = […] }` or `{ range = [low, high] }`, and the range must hold a value that its other keys allow."),
    "P066": Code("no draw meets the constraints", "A thousand draws from the table broke a constraint each; the judge would find no case."),
    "P067": Code(
        "few unseen cases",
        "The gate *general* wants eight draws or more to tell a kernel that is right from one that was made for the cases it saw.",
        is_warning=True,
    ),
    "P068": Code(
        "no case of this scale",
        "A CPU, an emulator and an interpreter are asked cases of scale `small` only: without one, the op cannot be judged there.",
        is_warning=True,
    ),
    "P070": Code("one op", "A task is about one op: `task.op` names its pack, or `[op]` stands in the task's own file."),
    "P071": Code("undeclared dependency", "The packs of `task.op` and `target.knowledge` stand in `[pack.dependencies]`, with the versions that will do."),
    "P072": Code("unknown language", "No back end bears this name."),
    "P073": Code("unknown family", "There is no family for this pair of languages."),
    "P074": Code(
        "entry",
        "A C symbol holds each dtype variable that has several dtypes (`softmax_{T}`), so that every dtype has a symbol of its own; "
        "a Python entry is a plain function's name.",
    ),
    "P075": Code("unknown argument", "`arguments` may hold inputs, inouts, outputs, dimensions, flags, scalars and `stream`."),
    "P076": Code("arguments do not fit", "Every input, inout and output is passed once; in functional style outputs are returned and not passed."),
    "P077": Code("stream", "`stream` is a C pointer; Python languages find the current stream themselves."),
    "P078": Code("candidate's files", "A folder with a candidate, as `start` and every example are, holds all files of `task.candidate.files`."),
    "P079": Code(
        "nothing may be written",
        '`[task.allow]` rules out every candidate: one whose language is torch computes with torch, and `torch = "none"` forbids that.',
    ),
    "P080": Code("no such pack", "No pack of that name is in the folders where packs are looked for."),
    "P081": Code("version refused", "The pack is there, in a version that the requirement refuses."),
    "P082": Code("broken dependency", "The pack that is needed has errors of its own."),
    "P083": Code("another kind", "The pack that is named is of another kind than what is needed here."),
    "P090": Code("unknown source", "Every number of a target names one of its `[target.sources]`."),
    "P091": Code("name of a number", "The name is nearly, but not quite, one that taskpack knows.", is_warning=True),
    "P092": Code(
        "not to be recognised", "A GPU is recognised by at least one key of `[target.recognise]`; without one, any GPU of that kind will do.", is_warning=True
    ),
    "P290": Code(
        "op of a model",
        "A model is an op whose reference is a library's class, `[op.module]`; its state is drawn by the rules of `[[model.state]]`, not declared key by key.",
    ),
    "P291": Code("undeclared dependency of a model", "Every task of `[[model.replace]]` must stand in `[pack.dependencies]`, with the versions that will do."),
    "P292": Code("task of no module", "What replaces a module is the candidate of a task whose op is a module: its baseline is the class that is replaced."),
    "P293": Code("state that does not differ", "Rules of a model's state draw `normal` or `uniform` values, so that a parameter which is ignored is missed."),
    "P294": Code("rule never reached", "The first rule that goes with a key counts; a rule after a more general one does nothing."),
    "P295": Code("output of a model", "A model's op has one floating output, such as the logits; along its last axis stands what is ranked."),
    "P200": Code("score", "`[suite.score]` names a policy, or gives in `unit` an expression that says what a unit of work is worth."),
    "P201": Code("undeclared dependency of a suite or an agent", "Packs that they name stand in `[pack.dependencies]`, with the versions that will do."),
    "P220": Code("launch", "`[agent] launch` says how an agent is launched; the table of that name says what, and there is no other one."),
    "P221": Code("prompt that nobody reads", 'With `prompt = "file"` one of the arguments holds `{prompt}`, the path of the file.'),
    "P222": Code("candidates to replay", "`[agent.replay]` has one candidate for each task that it names: a folder of the pack, or an example of the task."),
    "P223": Code("unknown example", "`[agent.replay.examples]` names examples that the tasks have."),
    "P320": Code(
        "reference or module",
        "An op's reference is a function of its own, `reference`, or a class of an installed library, `[op.module]` with its `[[op.state]]`: one of the two.",
    ),
    "P321": Code(
        "task of a module",
        "Where the op is a module, the baseline is the library's own class and is not named; the candidate says its `language` and, as `entry`, its class.",
    ),
    "P322": Code("package.module:Class", "Classes of libraries are named by their module's full name, a colon, and the class."),
    "P323": Code(
        "fingerprint",
        "`sha256:` and 64 hexadecimal digits, over the syntax of the library's class. It is compared wherever the task is built or run; where the library has "
        "changed its class, that is drift, and no verdict.",
    ),
    "P324": Code("signature", "`constructor` and `forward` are signatures in Python's words, without `self` and annotations."),
    "P325": Code("arguments of the constructor", "`[op.module.arguments]` gives every parameter without a default a value, and nothing that is not taken."),
    "P326": Code("arguments of forward", "The op's inputs are the tensors that `forward` takes, by their names; parameters without a default need one each."),
    "P327": Code("module that writes", "The interface `module` returns what it computes: its op has inputs, a state and outputs, and no inouts."),
    "P328": Code(
        "constant state",
        "A parameter with the same value everywhere, as libraries initialise many, hides a candidate that ignores it. Say how its values are drawn.",
    ),
    "P240": Code(
        "unknown fact",
        "Rules see facts of what they are about, of the device and of the cases: see the page on knowledge. Prose, which is told before "
        "there is any code, sees the device's only.",
    ),
    "P241": Code("rule without a fact", "A condition that looks at no fact is the same for all code: it decides nothing."),
    "P242": Code("subject of a rule", "What the rule is about cannot be seen in one of its languages."),
    "P243": Code("braces in words", "Braces in `message`, `fix` and `prose` hold an expression over facts, as in `{num_warps} warps`."),
    "P244": Code("rule without examples", "A rule has at least one good and one bad example, on which it is tried whenever the pack is checked."),
    "P245": Code("example contradicts the rule", "The rule holds for an example that is said to be bad, or does not for one that is said to be good."),
    "P246": Code("example decides nothing", "The rule does not apply to the example, or lacks a fact to decide it: an example that passes must really pass."),
    "P270": Code("unknown stage", "`after` names stages of the same pipeline."),
    "P271": Code("circle of stages", "A stage comes after itself, directly or by way of others: no order would do."),
}
"""`P0xx` → what it means. Codes are never given a second meaning."""
