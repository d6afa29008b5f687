# SPDX-License-Identifier: Apache-2.0

"""The pages of the site: README.md, docs/README.md, and the Markdown files that docs/README.md lists, by its sections.

A page keeps its path in the repository, so that links between pages are as they are in the files. Links to other files
lead to GitHub, links to a doc.go to pkg.go.dev. A link to a file that does not exist ends the build.
"""

import logging
import os
import posixpath
import re
from pathlib import Path

from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parents[2]
INDEX = "docs/README.md"
MODULE = "github.com/vecql/vecql"
VERSION = os.environ.get("SITE_VERSION", "dev")
COMMIT = VERSION if VERSION.startswith("v") else "main"  # a tag, or the branch

log = logging.getLogger("mkdocs.hooks.pages")
code = re.compile(r"(^```.*?^```|`[^`\n]*`)", re.MULTILINE | re.DOTALL)
link = re.compile(r"\]\(([^)\s#]*)(#[^)\s]*)?\)")
picture = re.compile(r'(?:!\[[^\]]*\]\(|\bsrc(?:set)?=")([^")\s]+)')  # of Markdown or HTML
attribute = re.compile(r'\b(src|srcset)="([^"]+)"')


def sections():
    """Returns the sections of the index: a title, and the titles and paths of its pages."""
    result = []
    for line in (ROOT / INDEX).read_text().splitlines():
        if line.startswith("## "):
            result.append((line[3:], []))
        elif match := re.match(r"- \[(.+?)\]\((.+?)\)", line):
            result[-1][1].append((match[1], resolved(INDEX, match[2])))
    return result


def resolved(page, target):
    """Returns the path in the repository of a link on a page."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(page), target))


def on_config(config):
    config.nav = [{"Home": "README.md"}, {"Documents": INDEX}]
    config.nav += [{title: [{name: path} for name, path in pages]} for title, pages in sections()]
    config.nav.append({"Packages": f"https://pkg.go.dev/{MODULE}"})
    return config


def on_files(files, config):
    paths = ["README.md", INDEX] + [path for _, pages in sections() for _, path in pages]
    for page in list(paths):
        targets = picture.findall((ROOT / page).read_text())
        paths += [resolved(page, target) for target in targets if "://" not in target]
    for path in dict.fromkeys(paths):
        files.append(File(path, str(ROOT), config.site_dir, config.use_directory_urls))
    return files


def on_page_markdown(markdown, page, config, files):
    """Returns the text without comments, and with links to files that are no pages."""
    if page.file.src_uri == "docs/troubleshooting.md":
        page.meta["search"] = {"boost": 4}  # texts of errors are searched for most
    parts = code.split(markdown)
    for i in range(0, len(parts), 2):  # the others are code
        text = re.sub(r"<!--.*?-->\n?", "", parts[i], flags=re.DOTALL)
        text = link.sub(lambda match: rewritten(match, page.file.src_uri, files), text)
        parts[i] = attribute.sub(lambda match: relative(match, page.file, files), text)
    return "".join(parts)


def rewritten(match, page, files):
    target = match[1]
    if not target or "://" in target:
        return match[0]
    path = resolved(page, target)
    if files.get_file_from_path(path):
        return match[0]
    if not (ROOT / path).exists():
        log.warning("%s links to %s, which does not exist", page, target)
    if posixpath.basename(path) == "doc.go":
        return f"](https://pkg.go.dev/{posixpath.normpath(posixpath.join(MODULE, posixpath.dirname(path)))})"
    kind = "tree" if (ROOT / path).is_dir() else "blob"
    return f"](https://github.com/vecql/vecql/{kind}/{COMMIT}/{path}{match[2] or ''})"


def relative(match, page, files):
    """Returns an attribute of HTML with the URL of its file: mkdocs rewrites the links of Markdown only."""
    name, target = match.groups()
    if "://" in target:
        return match[0]
    file = files.get_file_from_path(resolved(page.src_uri, target))
    return f'{name}="{file.url_relative_to(page)}"'
