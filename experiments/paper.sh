#!/usr/bin/env bash
# The paper's experiments, from nothing to the tables: generate, label, train, evaluate, and print beside the paper's.
set -euo pipefail

usage="usage: experiments/paper.sh [OPTION]... [-- OPTION OF TRAIN]...

  --domain NAME       only this domain; may be given several times
  --model NAME        rgnn1 for R-GNN[1], rgnn0 for R-GNN[0], rgnn for R-GNN; may be given several times; all if not
  --shipped           evaluate the models in the box instead of training any
  --minutes M         train each seed at most this long; it ends earlier with its steps
  --seeds N           how many models to train, of which one is kept
  --bench DIR         evaluate on the public test files too: DIR/DOMAIN/test (docs/instances.md)
  --fresh-seed N      evaluate on problems of the test sizes from the generator seed N too
  --lama              run LAMA on the same problems, and look for the best plans of fresh ones
                      (pip install 'trifold[planners]')
  --device NAME       cuda, cpu, …; cuda where there is one if not given
  --out DIR           where everything goes; runs/paper if not given

Every stage skips what is done, so the same command goes on where it was stopped. What is trained has values alone, as in
the paper, by the recipe DOMAIN-values; options of train after -- hold for all domains (--recipe paper is the paper's).
Where a recipe has a [selection], the model of several seeds is kept that solves most of its problems, else the one with
the least validation loss. Of the models in the box, DOMAIN and DOMAIN-values, each is evaluated by its best policy."

domains=() models=() more=() budget=() bench="" fresh="" lama="" shipped="" device=auto out=runs/paper
while (($#)); do
  case $1 in
    --domain | --model | --minutes | --seeds | --bench | --fresh-seed | --device | --out) : "${2:?$1 needs a value}" ;;&
    --domain) domains+=("$2"); shift 2 ;;
    --model) models+=("$2"); shift 2 ;;
    --minutes | --seeds) budget+=("$1" "$2"); shift 2 ;;
    --bench) bench=$2; shift 2 ;;
    --fresh-seed) fresh=$2; shift 2 ;;
    --device) device=$2; shift 2 ;;
    --out) out=$2; shift 2 ;;
    --lama) lama=yes; shift ;;
    --shipped) shipped=yes; shift ;;
    --) shift; more=("$@"); break ;;
    -h | --help) echo "$usage"; exit ;;
    *) echo "unknown option $1: see --help" >&2; exit 2 ;;
  esac
done

here=$(dirname "${BASH_SOURCE[0]}")
trifold=$here/../.venv/bin/trifold
[[ -x $trifold ]] || trifold=trifold
trifold=${TRIFOLD:-$trifold}
python=$here/../.venv/bin/python
[[ -x $python ]] || python=python3
python=${PYTHON:-$python}
if ((!${#domains[@]})); then
  domains=(blocks-s blocks-m gripper miconic visitall grid logistics rovers vacuum visitall-xy navig-xy)
fi
((${#models[@]})) || models=(rgnn1 rgnn0 rgnn)
[[ -z $shipped ]] || models=()

say() { printf '\n== %s\n' "$*" >&2; }

# Train a model of a domain in its run folder: DOMAIN MODEL RUN.
train() {
  local architecture=()
  case $2 in
    rgnn1) ;;
    rgnn0) architecture=(--set t=0) ;;
    rgnn) architecture=(--set encoder=plain) ;;
    *) echo "there is no model $2: rgnn1, rgnn0 or rgnn" >&2; exit 2 ;;
  esac
  [[ -e $3/done ]] && return
  say "train $2 on $1"
  if [[ -e $3/config.json ]]; then
    "$trifold" train --resume "$3" --device "$device"
  else
    "$trifold" train "$out/suite/$1" --run "$3" --recipe "$1-values" --device "$device" "${architecture[@]}" "${budget[@]}" \
      "${more[@]}"
  fi
  "$trifold" select "$3" --device "$device"
  touch "$3/done"
}

# Attempt the problems of a folder, and record them as a set: MODEL SET DOMAIN FOLDER.
evaluate() {
  local records=$out/results/$2/$3.jsonl
  say "evaluate $1 on $4"
  "$trifold" evaluate "$1" "$4" --records "$records" --device "$device"
  if [[ $3 == navig-xy ]]; then  # the paper's policy there has no memory
    "$trifold" evaluate "$1" "$4" --records "$records" --device "$device" --strict
  fi
}

mkdir -p "$out"
box=$([[ -z $shipped ]] || "$trifold" models --json)
"$trifold" generate --suite paper --out "$out/suite"
for domain in "${domains[@]}"; do
  declare -A tests=([suite]=$out/suite/$domain/test)
  if [[ -n $bench && -d $bench/$domain/test ]]; then
    tests[public]=$bench/$domain/test
  fi
  if [[ -n $fresh ]]; then
    "$trifold" generate "$domain" --split test --seed "$fresh" --out "$out/fresh-$fresh/$domain"
    tests[fresh-$fresh]=$out/fresh-$fresh/$domain/test
  fi
  files=()
  if [[ -n $shipped ]]; then
    for name in "$domain" "$domain-values"; do
      if [[ $box == *"\"name\": \"$name\""* ]]; then files+=("$name"); fi
    done
  fi
  for model in "${models[@]}"; do
    train "$domain" "$model" "$out/runs/$domain-$model"
    files+=("$out/runs/$domain-$model/model.safetensors")
  done
  for file in "${files[@]}"; do
    for set in "${!tests[@]}"; do
      evaluate "$file" "$set" "$domain" "${tests[$set]}"
    done
  done
  if [[ -n $lama ]]; then
    for set in "${!tests[@]}"; do
      "$trifold" reference "${tests[$set]}" --first --timeout 60 --records "$out/results/$set/$domain.jsonl"
      if [[ $set == fresh-* ]]; then
        "$trifold" reference "${tests[$set]}" --timeout 20 --records "$out/references.jsonl"
      fi
    done
  fi
done

references=()
for file in "$here"/references*.jsonl "$out"/references.jsonl; do
  [[ ! -e $file ]] || references+=(--references "$file")
done
"$python" "$here/results_page.py" "$out/results" "$here/lama" "${references[@]}" --notes "$here/tried.md" |
  tee "$out/results.md"
