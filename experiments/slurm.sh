#!/bin/bash
# A Trifold command on the nodes of a Slurm allocation: Ray is started in it, and ends with it.
#
#   sbatch experiments/slurm.sh label suite
#   sbatch --nodes=8 experiments/slurm.sh evaluate runs/mine DIR/test --records records.jsonl
#
# Where the time ends first, the same command goes on. trifold and ray are those on the PATH, or in $TRIFOLD_BIN.
#SBATCH --job-name=trifold
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=32
#SBATCH --exclusive
#SBATCH --time=12:00:00
#SBATCH --signal=B:TERM@60
set -euo pipefail

export PATH="${TRIFOLD_BIN:+$TRIFOLD_BIN:}$PATH"
export RAY_USAGE_STATS_ENABLED=0
port=$((20000 + SLURM_JOB_ID % 20000))
mapfile -t nodes < <(scontrol show hostnames "$SLURM_JOB_NODELIST")
head=${nodes[0]}
address=$(srun --overlap --nodes=1 --ntasks=1 --nodelist="$head" hostname --ip-address | cut -d' ' -f1)

start=(ray start --block --num-cpus="${SLURM_CPUS_PER_TASK:-1}" --disable-usage-stats)
if [[ -n ${SLURM_MEM_PER_NODE:-} ]]; then  # a fifth is left to Ray's object store, and to Ray
  start+=(--memory="$((SLURM_MEM_PER_NODE * 1048576 / 5 * 4))" --object-store-memory="$((SLURM_MEM_PER_NODE * 104857))")
fi

trap 'kill $(jobs -p) 2> /dev/null || true; wait' EXIT  # the nodes end with the command
srun --overlap --nodes=1 --ntasks=1 --nodelist="$head" \
  "${start[@]}" --head --node-ip-address="$address" --port="$port" --include-dashboard=false > /dev/null &
until ray status --address="$address:$port" > /dev/null 2>&1; do
  kill -0 $! || { echo "Ray did not start on $head" >&2; exit 1; }
  sleep 1
done
if ((${#nodes[@]} > 1)); then
  srun --overlap --nodes=$((${#nodes[@]} - 1)) --ntasks=$((${#nodes[@]} - 1)) --exclude="$head" \
    "${start[@]}" --address="$address:$port" > /dev/null &
fi

trifold "$@" --cluster "$address:$port" &
command=$!
trap 'kill -TERM "$command"' TERM INT  # before its time is over Slurm says so: what is done is kept
while kill -0 "$command" 2> /dev/null; do wait "$command" && code=0 || code=$?; done
exit "$code"
