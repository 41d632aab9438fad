#!/usr/bin/env bash
# Writes a comment of `ridgebench gate --comment FILE` into the pull request of a workflow of GitHub, and edits the one that is there.
#   scripts/pull_request_comment.sh FILE
# It finds its comment by the marker in the first line, among those of bots. It needs gh, GH_TOKEN with the permission
# `pull-requests: write`, GITHUB_REPOSITORY and PULL_REQUEST, the number. Exit codes: 0 done, 2 usage, 8 GitHub refused.
set -euo pipefail

fail() {
  echo "pull_request_comment.sh: $2" >&2
  exit "$1"
}

[[ $# -eq 1 && -f $1 ]] || fail 2 "give the file of a comment, which ridgebench gate --comment writes"
[[ ${PULL_REQUEST:-} =~ ^[0-9]+$ ]] || fail 2 "PULL_REQUEST is '${PULL_REQUEST:-}'; allowed: the number of a pull request"
[[ ${GITHUB_REPOSITORY:-} == */* ]] || fail 2 "GITHUB_REPOSITORY is '${GITHUB_REPOSITORY:-}'; allowed: OWNER/NAME"
command -v gh >/dev/null || fail 2 "gh, the command line of GitHub, is not installed"
marker=$(head -n 1 "$1")
[[ $marker == "<!-- ridgebench gate: "*" -->" ]] || fail 2 "$1 has no marker; allowed: a file of ridgebench gate --comment"

comments=repos/$GITHUB_REPOSITORY/issues/$PULL_REQUEST/comments
# The marker comes as a variable of jq: as a part of the expression it could be one itself.
known=$(MARKER=$marker gh api --paginate "$comments" \
  --jq '.[] | select(.user.type == "Bot" and (.body | startswith(env.MARKER))) | .id') || fail 8 "GitHub does not list the comments of $PULL_REQUEST"
known=${known%%$'\n'*}
if [[ -n $known ]]; then
  gh api --silent --method PATCH "repos/$GITHUB_REPOSITORY/issues/comments/$known" --field "body=@$1" || fail 8 "GitHub does not take the edit of comment $known"
else
  gh api --silent --method POST "$comments" --field "body=@$1" || fail 8 "GitHub does not take a comment on $PULL_REQUEST"
fi
