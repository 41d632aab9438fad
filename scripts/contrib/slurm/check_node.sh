#!/usr/bin/env bash
# Drains a node whose GPUs cannot be used. For slurm.conf, with the path of this file:
#   Prolog=/opt/ridgebench/scripts/contrib/slurm/check_node.sh
#   Epilog=/opt/ridgebench/scripts/contrib/slurm/check_node.sh
#   HealthCheckProgram=/opt/ridgebench/scripts/contrib/slurm/check_node.sh
#   HealthCheckInterval=600
#   HealthCheckNodeState=IDLE
# It queries the driver and measures nothing: a second, and at most 50 s if the driver hangs. Slurm ends a
# HealthCheckProgram after 60 s; PrologEpilogTimeout must be longer than 50 s.
#
# Exit codes, of which Slurm drains a node at every one but 0 (a prolog's also puts the job back into the queue):
# 0  the node may work: OK, WARNING, UNKNOWN, and every mistake of this script or of its settings
# 1  CRITICAL twice, two seconds apart; the node's reason then is the line of node_check.sh
# /etc/ridgebench/node.conf may have lines KEY=VALUE:
#   gpus=8        how many the node should have; without it Slurm's Gres, else the number that node_check.sh saw before
#   drain=no      only logs
#   program=PATH  of ridgebench
#   check=PATH    of node_check.sh
#   path=FOLDERS  before PATH, for scontrol
set -u
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin  # Slurm sets none
check=$(dirname "${BASH_SOURCE[0]}")/../node_check.sh
gpus='' drain=yes
settings=${RIDGEBENCH_NODE_SETTINGS:-/etc/ridgebench/node.conf}
if [[ -r $settings ]]; then
  while IFS='=' read -r key value; do  # read and not sourced: no line of it can end this script
    case $key in
      gpus) gpus=$value ;;
      drain) drain=$value ;;
      program) export RIDGEBENCH=$value ;;
      check) check=$value ;;
      path) PATH=$value:$PATH ;;
    esac
  done <"$settings"
fi

node=${SLURMD_NODENAME:-$(hostname -s)}
if [[ -z $gpus ]] && command -v scontrol >/dev/null; then
  gres=$(timeout 5 scontrol show node -o "$node" 2>/dev/null)
  [[ $gres =~ Gres=[^\ ]*gpu:([^,:\ \(]+:)*([0-9]+) ]] && gpus=${BASH_REMATCH[2]}
fi

unset SLURM_GPUS_ON_NODE CUDA_VISIBLE_DEVICES  # of a job; a prolog sees the whole node
for delay in 2 0; do
  said=$("$check" ${gpus:+--gpus "$gpus"} --timeout 15 2>&1)
  if [[ $? -ne 2 || $said != CRITICAL:* ]]; then
    exit 0
  fi
  sleep "$delay"
done
logger -t ridgebench -- "$said" 2>/dev/null
[[ $drain == yes ]] || exit 0
command -v scontrol >/dev/null &&
  timeout 10 scontrol update NodeName="$node" State=DRAIN Reason="ridgebench: ${said:0:200}"
exit 1
