# shellcheck shell=bash
# Shared by the trials. A script sources this file, writes one function `case_NAME` a case (case_debian_12 is the case
# debian-12), lists the names in `cases`, and calls `try_main "$@"`, which runs the cases that its arguments name, or all,
# and prints a table. A case fails when one of its commands fails.
#
# A case that calls `try_system` works in a system of its own, which debootstrap makes from nothing; this needs root.
# All files are in RIDGEBENCH_TRY (default /var/tmp/ridgebench-try): base/ the minimal systems, apt/ the packages that were
# downloaded, system/ the systems in use, log/ the output of each case. RIDGEBENCH_TRY_KEEP=1 keeps the systems.
# RIDGEBENCH_TRY_CCACHE=1 installs ccache and keeps what the compilers made, for trials that repeat.
# RIDGEBENCH_TRY_DEBIAN and RIDGEBENCH_TRY_UBUNTU name mirrors.
set -euo pipefail
checkout=$(git -C "$(dirname "${BASH_SOURCE[0]}")" rev-parse --show-toplevel)
try=${RIDGEBENCH_TRY:-/var/tmp/ridgebench-try}
debian=${RIDGEBENCH_TRY_DEBIAN:-http://deb.debian.org}
ubuntu=${RIDGEBENCH_TRY_UBUNTU:-http://archive.ubuntu.com}
try_certificates=/usr/local/share/ca-certificates  # the package ca-certificates adds what is here
torch=torch==2.15.0  # the version of the committed counts of models
system=  # the root folder of this case's system
suite=   # the suite of Debian that it is made from
cases=() # the names of the script's cases

try_fail() {
  echo "try: $*" >&2
  exit 1
}

# Says how the case ended, for the table: try_says TEXT
try_says() {
  echo "$*" >"$try/log/$try_case.says"
}

# Prints the path of a file that scripts/release.sh made: try_artifact REGEX
try_artifact() {
  local found
  found=$(find "$checkout/dist" -maxdepth 1 -regextype egrep -regex ".*/$1" 2>/dev/null | sort -V | tail -n 1)
  [[ -n $found ]] || try_fail "dist/ has no file named $1: scripts/release.sh makes it"
  echo "$found"
}

# Installs packages of PyPI into the folder of Python that the trials with torch share, and sets `models` to it:
# try_torch PACKAGE...
models=$try/models
try_torch() {
  [[ -x $models/bin/python ]] || python3 -m venv "$models"
  "$models/bin/pip" install -q "$torch" "$@"
  try_says "$torch $*"
}

# Makes the minimal system of the suite, once, as a tar file.
try_base() {
  local folder=$try/base/$suite.new mirror=$debian/debian script=sid
  [[ $suite != jammy && $suite != noble ]] || mirror=$ubuntu/ubuntu script=gutsy  # serves every suite of Ubuntu
  mkdir -p "$try/base"
  (
    flock 9
    [[ ! -s $try/base/$suite.tar ]] || exit 0
    rm -rf --one-file-system "$folder"
    debootstrap --variant=minbase "$suite" "$folder" "$mirror" "/usr/share/debootstrap/scripts/$script"
    tar -C "$folder" --exclude='./var/cache/apt/archives/*.deb' -cf "$try/base/$suite.tar.new" .
    mv "$try/base/$suite.tar.new" "$try/base/$suite.tar"
    rm -rf --one-file-system "$folder"
  ) 9>"$try/base/$suite.lock"
}

try_sources() {
  local pocket
  if [[ $suite == jammy || $suite == noble ]]; then
    for pocket in "" -updates -security; do echo "deb $ubuntu/ubuntu $suite$pocket main universe"; done
  else
    for pocket in "" -updates; do echo "deb $debian/debian $suite$pocket main"; done
    echo "deb $debian/debian-security $suite-security main"
  fi
}

# Makes the system of this case, with a user `tester`, and sets `system`: try_system bookworm. The suites jammy and noble are
# Ubuntu's, all others Debian's.
try_system() {
  suite=$1
  [[ $EUID -eq 0 ]] || try_fail "$try_case needs root: debootstrap and chroot make a system of its own"
  command -v debootstrap >/dev/null || try_fail "$try_case needs debootstrap"
  try_base
  mkdir -p "$try/system" "$try/apt/$suite"
  system=$(mktemp -d "$try/system/$try_case.XXXXXX")
  tar -C "$system" -xf "$try/base/$suite.tar"
  try_sources >"$system/etc/apt/sources.list"
  echo force-unsafe-io >"$system/etc/dpkg/dpkg.cfg.d/try"  # the system does not live long
  cp -L /etc/resolv.conf "$system/etc/resolv.conf"
  # A machine behind a proxy of its own has certificates of its own.
  if [[ -s /etc/ssl/certs/ca-certificates.crt ]]; then
    mkdir -p "$system$try_certificates"
    cp -L /etc/ssl/certs/ca-certificates.crt "$system$try_certificates/machine.crt"
  fi
  cp -ln "$try/apt/$suite/"*.deb "$system/var/cache/apt/archives/" 2>/dev/null || true
  chroot "$system" useradd --create-home --shell /bin/bash tester
  if [[ ${RIDGEBENCH_TRY_CCACHE:-0} == 1 ]]; then
    mkdir -p "$system/ccache" "$try/ccache/$suite"
    chmod 777 "$try/ccache/$suite"
    try_install ccache
  fi
}

# Copies a clean clone of the checkout's HEAD into the system: try_clone /src [OWNER]
try_clone() {
  [[ -z $(git -C "$checkout" status --porcelain) ]] || echo "try: changes that are not committed are not tried" >&2
  git clone -q "$checkout" "$system$1"
  git -C "$system$1" remote remove origin
  [[ -z ${2:-} ]] || chroot "$system" chown -R "$2:" "$1"
}

# Runs a command of bash in the system: try_run [--user] [--offline] [--in FOLDER] COMMAND. Its /proc, /dev and /sys are mounted in
# a namespace that ends with the command, so that nothing stays mounted and no process stays behind.
try_run() {
  local user=root home=/root folder=/ spaces=(--mount --pid --fork --kill-child --propagation private)
  while [[ $1 == --* ]]; do
    case $1 in
      --user) user=tester home=/home/tester ;;
      --offline) spaces+=(--net) ;;
      --in) folder=$2; shift ;;
      *) try_fail "try_run does not know $1" ;;
    esac
    shift
  done
  echo "+ [$user] $1"
  # shellcheck disable=SC2016
  unshare "${spaces[@]}" bash -euc '
    mount -t proc proc "$0/proc"
    mount --rbind /dev "$0/dev"
    mount --rbind /sys "$0/sys"
    [[ ! -d $0/ccache ]] || mount --bind "$4" "$0/ccache"
    system=$0 user=$1 folder=$2 command=$3
    shift 4
    exec env -i "$@" chroot --userspec="$user:$user" "$system" bash -euo pipefail -c "cd \"\$0\"; $command" "$folder"
  ' "$system" "$user" "$folder" "$1" "$try/ccache/$suite" HOME="$home" USER="$user" TERM=dumb LANG=C.UTF-8 \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive \
    ${https_proxy:+"https_proxy=$https_proxy"} ${http_proxy:+"http_proxy=$http_proxy"} \
    SSL_CERT_FILE="$try_certificates/machine.crt" PIP_CERT="$try_certificates/machine.crt" \
    CCACHE_DIR=/ccache CCACHE_UMASK=000 CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
}

# Installs Debian packages in the system: try_install PACKAGE...
try_install() {
  try_run "apt-get update -qq && apt-get install -y -qq --no-install-recommends $*"
}

# Keeps the packages that this case downloaded, and deletes its system.
try_clean() {
  [[ -n $system ]] || return 0
  cp -ln "$system/var/cache/apt/archives/"*.deb "$try/apt/$suite/" 2>/dev/null || true
  [[ ${RIDGEBENCH_TRY_KEEP:-0} == 1 ]] || rm -rf --one-file-system "$system"
}

# Runs one case and prints its line of the table.
try_one() {
  local started=$SECONDS status result word=passed log=$try/log/$1.log
  try_case=$1
  rm -f "$try/log/$1.says"
  set +e
  (
    set -e
    trap try_clean EXIT
    "case_${1//-/_}"
  ) >"$log" 2>&1
  status=$?
  set -e
  result=$(cat "$try/log/$1.says" 2>/dev/null || true)
  if [[ $status -ne 0 ]]; then
    word=FAILED
    result="$(tail -n 1 "$log" | cut -c 1-160) ($log)"
    try_failed=$((try_failed + 1))
  fi
  printf '| %s | %d | %s | %s |\n' "$1" $((SECONDS - started)) "$word" "$result"
}

try_main() {
  local name try_failed=0 wanted=("$@")
  for name in "$@"; do
    [[ " ${cases[*]} " == *" $name "* ]] || try_fail "no case is called '$name'; the cases are: ${cases[*]}"
  done
  [[ $# -gt 0 ]] || wanted=("${cases[@]}")
  mkdir -p "$try/log"
  printf '| case | seconds | | result |\n|---|---:|---|---|\n'
  for name in "${wanted[@]}"; do
    try_one "$name"
  done
  [[ $try_failed -eq 0 ]]
}
