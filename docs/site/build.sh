#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Builds the site of one version, and adds it to the versions that were built before: build.sh v0.1.0. Only .cache/site is
# written: the environment of Python, the versions as branch gh-pages of a git repository of their own, and its files in html.
set -euo pipefail
cd "$(dirname "$0")/../.."
export SITE_VERSION=${1:?"the name of the version is missing"}
site=$PWD/.cache/site

python3 -m venv "$site/venv"
PATH=$site/venv/bin:$PATH # mike runs mkdocs
pip install --quiet --disable-pip-version-check --requirement docs/site/requirements.txt

export GIT_DIR=$site/git
export GIT_AUTHOR_NAME=docs-site GIT_AUTHOR_EMAIL=docs-site GIT_COMMITTER_NAME=docs-site GIT_COMMITTER_EMAIL=docs-site
[ -d "$GIT_DIR" ] || git init --quiet --bare
release=()
[[ $SITE_VERSION != v* ]] || release=(latest) # the other name of the newest release, which is the first page
mike deploy --config-file docs/site/mkdocs.yml --message "$SITE_VERSION" --update-aliases "$SITE_VERSION" "${release[@]}"
if [ "${release[*]}" ] || ! git cat-file -e gh-pages:index.html 2>/dev/null; then
	mike set-default --config-file docs/site/mkdocs.yml --message 'first page' --allow-empty "${release[0]:-$SITE_VERSION}"
fi

rm -rf "$site/html"
mkdir "$site/html"
git --work-tree="$site/html" checkout --quiet --force gh-pages -- .
echo "The site is $site/html. To look at it: python3 -m http.server --directory $site/html"
