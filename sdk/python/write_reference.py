"""Writes docs/sdk/python-reference*.md, the reference of the package, from its signatures and docstrings.

    python3 sdk/python/write_reference.py [--check]

With `--check` it only compares the pages, and exits with 1 if one is of other sources.
"""

import ast
import hashlib
import sys
from pathlib import Path

package = Path(__file__).parent / "org_memory_hub"
folder = Path(__file__).parents[2] / "docs" / "sdk"

Function = ast.FunctionDef | ast.AsyncFunctionDef

Section = tuple[str, str, list[str]]

pages: list[tuple[str, str, str, list[Section]]] = [
    (
        "python-reference.md",
        "Python SDK reference",
        "The clients of `org_memory_hub`. Further pages: [tracking](python-reference-tracking.md) of invocations,\n"
        "[webhooks and errors](python-reference-errors.md). The [guide](../../sdk/python/README.md) shows how to use them.",
        [
            ("Clients", "client", ["Hub", "Records", "Telemetry", "Exports"]),
            ("Asynchronous clients", "async_client", ["AsyncHub", "AsyncRecords", "AsyncTelemetry", "AsyncExports"]),
            ("Pages of results", "pages", ["Pages", "AsyncPages"]),
            ("Settings", "settings", ["Retries"]),
        ],
    ),
    (
        "python-reference-tracking.md",
        "Python SDK reference: tracking",
        "Tracks invocations and calls of LLM libraries. [Clients](python-reference.md) send their events.",
        [
            ("Tracked invocations", "tracking", ["Invocation"]),
            ("Batches of events", "batcher", ["Batcher", "BatcherStats"]),
            ("OpenAI", "integrations.openai", []),
            ("Anthropic", "integrations.anthropic", []),
            ("LangChain", "integrations.langchain", []),
        ],
    ),
    (
        "python-reference-errors.md",
        "Python SDK reference: webhooks and errors",
        "Verifies webhooks, and names the exceptions of the package. [Clients](python-reference.md) raise them.",
        [
            ("Webhooks", "webhooks", ["verify_webhook", "WebhookRefused"]),
            ("Errors", "errors", ["HubProblem", "FieldError"]),
        ],
    ),
]


def main() -> None:
    """Writes or checks the pages."""
    stale = []
    for name, title, summary, sections in pages:
        text = page_of(title, summary, sections)
        page = folder / name
        if "--check" not in sys.argv:
            page.parent.mkdir(exist_ok=True)
            page.write_text(text)
        elif not page.exists() or page.read_text() != text:
            stale.append(str(page))
    if stale:
        sys.exit(f"{', '.join(stale)}: of other sources. Run: python3 sdk/python/write_reference.py")


def page_of(title: str, summary: str, sections: list[Section]) -> str:
    """Returns the text of a page."""
    parts = [f"# {title}", summary]
    for heading, module, names in sections:
        path = package / (module.replace(".", "/") + ".py")
        tree = ast.parse(path.read_text())
        found = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef | Function)}
        chosen = names or [name for name in found if not name.startswith("_")]
        where = "org_memory_hub" if "." not in module else f"org_memory_hub.{module}"
        parts.append(f"## {heading}\n\nImport from `{where}`." if names or "." in module else f"## {heading}")
        if module == "errors":
            parts.append(errors_of(tree))
        parts += [section_of(found[name]) for name in chosen]
    parts.append("## Sources of this page\n\n`python3 sdk/python/write_reference.py` wrote it from sources with this digest:")
    parts.append(f"```text\n{digest()}\n```")
    return "\n\n".join(parts) + "\n"


def digest() -> str:
    """Returns SHA-256 over the names and contents of the sources, in hexadecimal."""
    files = [Path(__file__), *sorted(package.rglob("*.py"), key=lambda file: file.relative_to(package).as_posix())]
    lines = [f"{file.name} {hashlib.sha256(file.read_bytes()).hexdigest()}\n" for file in files]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def errors_of(tree: ast.Module) -> str:
    """Returns a table of the exceptions of a module."""
    rows = [
        f"| `{node.name}` | `{ast.unparse(node.bases[0])}` | {cell(text_of(node))} |"
        for node in tree.body
        if isinstance(node, ast.ClassDef) and node.bases
    ]
    return "\n".join(["| Error | Subclass of | Meaning |", "|---|---|---|", *rows])


def section_of(node: ast.ClassDef | Function) -> str:
    """Returns the text about a class or a function."""
    if not isinstance(node, ast.ClassDef):
        return f"### {node.name}\n\n```python\n{signature_of(node, node.name)}\n```\n\n{text_of(node)}".rstrip()
    bases = ", ".join(ast.unparse(base) for base in node.bases)
    parts = [f"### {node.name}"]
    if text_of(node):
        parts.append(text_of(node))
    if bases and bases not in ("Exception", "Generic[T]", "_Base"):
        parts.append(f"Subclass of `{bases}`.")
    methods = [one for one in node.body if isinstance(one, Function)]
    for method in methods:
        if method.name == "__init__":
            parts.append(f"```python\n{signature_of(method, node.name)}\n```")
            if text_of(method):
                parts.append(text_of(method))
    rows = [f"| `{cell(field)}` | |" for field in fields_of(node)]
    rows += [
        f"| `{cell(signature_of(method, method.name))}` | {cell(text_of(method))} |"
        for method in methods
        if not method.name.startswith("_")
    ]
    if rows:
        parts.append("\n".join(["| Member | Meaning |", "|---|---|", *rows]))
    return "\n\n".join(parts)


def fields_of(node: ast.ClassDef) -> list[str]:
    """Returns the annotated public attributes of a class."""
    return [
        ast.unparse(one)
        for one in node.body
        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name) and not one.target.id.startswith("_")
    ]


def signature_of(node: Function, name: str) -> str:
    """Returns the call of a function, without `self`."""
    arguments = ast.unparse(node.args).removeprefix("self, ").removeprefix("cls, ")
    result = "" if node.returns is None or node.name == "__init__" else f" -> {ast.unparse(node.returns)}"
    kind = "async " if isinstance(node, ast.AsyncFunctionDef) else ""
    return f"{kind}{name}({'' if arguments in ('self', 'cls') else arguments}){result}"


def text_of(node: ast.ClassDef | Function) -> str:
    """Returns the docstring."""
    return ast.get_docstring(node) or ""


def cell(text: str) -> str:
    """Returns text that fits into a cell of a table."""
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    main()
