#!/usr/bin/env bash
# Runs a real Slurm on this machine: a controller, and four nodes gn1 to gn4 with eight GPUs each that do not exist. Nothing
# is installed, because an sbatch in PATH makes scripts/run.sh submit jobs. It needs root, for device files and munge.
#   scripts/try/slurm.sh unpack      download Debian's packages and unpack them into .deps/slurm; needs apt
#   scripts/try/slurm.sh start DIR   start the daemons with their files in DIR, and write DIR/environment
#   scripts/try/slurm.sh stop DIR    end the daemons of DIR
#   scripts/try/slurm.sh has         whether the packages are there and this user is root
# `source DIR/environment` brings sbatch, squeue and the others into a shell's PATH.
# Exit codes: 0, 2 usage or something is missing, 8 a daemon did not start.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
unpacked=$PWD/.deps/slurm
packages=(slurmctld slurmd slurm-client slurm-wlm-basic-plugins munge libmunge2 liblua5.1-0 libhwloc15)
gpus=8
nodes=4

fail() {
  echo "slurm.sh: $1" >&2
  exit "${2:-2}"
}

libraries() { dirname "$(find "$unpacked/usr/lib" -name 'libmunge.so.2' -print -quit)"; }

unpack() {
  command -v apt-get >/dev/null && command -v dpkg >/dev/null || fail "apt-get and dpkg are missing; allowed: Debian"
  local scratch
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' RETURN
  (cd "$scratch" && apt-get download -q "${packages[@]}" >&2) || fail "apt-get cannot download ${packages[*]}"
  rm -rf "$unpacked.new"
  mkdir -p "$unpacked.new"
  for package in "$scratch"/*.deb; do dpkg -x "$package" "$unpacked.new"; done
  rm -rf "$unpacked"
  mv "$unpacked.new" "$unpacked"
}

has() {
  [[ $EUID -eq 0 ]] || fail "root is needed, for device files and munge"
  [[ -x $unpacked/usr/sbin/slurmctld-wlm ]] || fail "$unpacked is missing; scripts/try/slurm.sh unpack makes it"
  local scratch refused=
  scratch=$(mktemp -d)
  mknod "$scratch/gpu" c 1 3 2>/dev/null || refused=1
  rm -r "$scratch"
  [[ -z $refused ]] || fail "this machine lets root make no device files"
}

# Debian names the daemons *-wlm. Under that name they read no Gres, as they look at their own name.
make_links() {
  mkdir -p "$1/bin"
  local daemon
  for daemon in slurmctld slurmd slurmstepd; do
    cp "$unpacked/usr/sbin/$daemon-wlm" "$1/bin/$daemon"
  done
}

# A GPU must be a character device: with regular files Slurm leaves CUDA_VISIBLE_DEVICES empty. These are /dev/null.
make_gpus() {
  local number
  for ((number = 0; number < gpus; ++number)); do mknod "$1/fakegpu$number" c 1 3; done
}

# write_config DIR PORT: config_overrides lets a node have more processors than this machine.
write_config() {
  cat >"$1/slurm.conf" <<CONFIG
ClusterName=try
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmctldPort=$2
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$1/munge.socket
CredType=cred/munge
MpiDefault=none
PluginDir=$(libraries)/slurm-wlm
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=5
InactiveLimit=0
StateSaveLocation=$1/state
SlurmctldPidFile=$1/slurmctld.pid
SlurmctldLogFile=$1/slurmctld.log
SlurmdPidFile=$1/slurmd.%n.pid
SlurmdSpoolDir=$1/spool.%n
SlurmdLogFile=$1/slurmd.%n.log
GresTypes=gpu
NodeName=gn[1-$nodes] NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 Port=[$(($2 + 1))-$(($2 + nodes))] CPUs=$gpus RealMemory=1000 Gres=gpu:h100:$gpus State=UNKNOWN
PartitionName=gpu Nodes=gn[1-$nodes] Default=YES MaxTime=INFINITE State=UP
CONFIG
  echo "AutoDetect=off
NodeName=gn[1-$nodes] Name=gpu Type=h100 Flags=nvidia_gpu_env File=$1/fakegpu[0-$((gpus - 1))]" >"$1/gres.conf"
  cat >"$1/environment" <<ENVIRONMENT
export PATH='$unpacked/usr/bin':\$PATH LD_LIBRARY_PATH='$(libraries)':'$(libraries)/slurm-wlm'\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH} SLURM_CONF='$1/slurm.conf'
ENVIRONMENT
}

# Prints the first of six ports in a row on which nothing listens.
free_ports() {
  local port=17000 listening
  listening=$(awk 'NR > 1 { split($2, a, ":"); print a[2] }' /proc/net/tcp /proc/net/tcp6)
  while ((port < 30000)); do
    local offset taken=
    for ((offset = 0; offset <= nodes + 1; ++offset)); do
      ! grep -qi "^$(printf %04X $((port + offset)))$" <<<"$listening" || taken=1
    done
    [[ -n $taken ]] || break
    port=$((port + 10))
  done
  echo "$port"
}

start() {
  has
  [[ ! -e $1/slurm.conf ]] || fail "$1 has a Slurm already; allowed: a new folder"
  mkdir -p "$1/state"
  local folder number
  folder=$(cd "$1" && pwd)
  chmod 755 "$folder"
  make_links "$folder"
  make_gpus "$folder"
  write_config "$folder" "$(free_ports)"
  source "$folder/environment"
  head -c 1024 /dev/urandom >"$folder/munge.key"
  chmod 400 "$folder/munge.key"
  "$unpacked/usr/sbin/munged" --force --key-file="$folder/munge.key" --socket="$folder/munge.socket" \
    --pid-file="$folder/munged.pid" --log-file="$folder/munged.log" --seed-file="$folder/munge.seed" >/dev/null 2>&1 ||
    fail "munged did not start: $(tail -n 1 "$folder/munged.log" 2>/dev/null)" 8
  "$folder/bin/slurmctld" >/dev/null 2>&1 || fail "slurmctld did not start: $(tail -n 1 "$folder/slurmctld.log")" 8
  for ((number = 1; number <= nodes; ++number)); do
    mkdir -p "$folder/spool.gn$number"
    "$folder/bin/slurmd" -N "gn$number" -d "$folder/bin/slurmstepd" >/dev/null 2>&1 ||
      fail "slurmd of gn$number did not start: $(tail -n 1 "$folder/slurmd.gn$number.log")" 8
  done
  wait_for_nodes || { stop "$folder"; fail "the nodes did not come up: $(tail -n 1 "$folder/slurmctld.log")" 8; }
}

wait_for_nodes() {
  local turn
  for ((turn = 0; turn < 300; ++turn)); do
    [[ $(sinfo -h -N -t idle -o '%N' 2>/dev/null | wc -l) -ne $nodes ]] || return 0
    sleep 0.2
  done
  return 1
}

# Ends the daemons by the numbers that they wrote, and waits for them.
stop() {
  local file process turn
  for file in "$1"/slurmd.*.pid "$1/slurmctld.pid" "$1/munged.pid"; do
    [[ -s $file ]] || continue
    process=$(<"$file")
    kill "$process" 2>/dev/null || continue
    for ((turn = 0; turn < 100; ++turn)); do
      kill -0 "$process" 2>/dev/null || break
      sleep 0.1
    done
    kill -9 "$process" 2>/dev/null || true
  done
}

case "${1:-} $#" in
  "unpack 1") unpack ;;
  "has 1") has ;;
  "start 2") start "$2" ;;
  "stop 2") stop "$2" ;;
  *) fail "unknown arguments '$*'; allowed: unpack, has, start DIR, stop DIR" ;;
esac
