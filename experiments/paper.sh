#!/usr/bin/env bash
# The paper's experiments, from nothing to the tables: the study paper.toml, LAMA, and all of it beside the paper's numbers.
set -euo pipefail

usage="usage: experiments/paper.sh [OPTION]... [-- OPTION OF STUDY]...

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

What is done is not done again, so the same command goes on where it was stopped. What is trained has values alone, as in
the paper, by the recipe DOMAIN-values; options of trifold study after -- hold for all: --set batch=64, --workers 4, --plan.
Where a recipe has a [selection], the model of several seeds is kept that solves most of its problems, else the one with
the least validation loss. Of the models in the box, DOMAIN and DOMAIN-values, each is evaluated by its best policy."

domains=() models=() asked=() more=() bench="" fresh="" lama="" shipped="" out=runs/paper
while (($#)); do
  case $1 in
    --domain | --model | --minutes | --seeds | --bench | --fresh-seed | --device | --out) : "${2:?$1 needs a value}" ;;&
    --domain) domains+=("$2"); shift 2 ;;
    --model) models+=("$2"); shift 2 ;;
    --minutes | --seeds) asked+=(--set "${1#--}=$2"); shift 2 ;;
    --bench) bench=$2; shift 2 ;;
    --fresh-seed) fresh=$2; shift 2 ;;
    --device) asked+=(--device "$2"); shift 2 ;;
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
for domain in "${domains[@]}"; do asked+=(--domain "$domain"); done
if ((!${#domains[@]})); then
  domains=(blocks-s blocks-m gripper miconic visitall grid logistics rovers vacuum visitall-xy navig-xy)
fi
((${#models[@]})) || models=(rgnn1 rgnn0 rgnn)
[[ -z $shipped ]] || models=(shipped shipped-values)
for model in "${models[@]}"; do asked+=(--recipe "$model"); done

mkdir -p "$out"
study=$out/paper.toml
cp "$here/paper.toml" "$study"
if [[ -n $bench ]]; then
  printf "public = { folder = '%s/{domain}/test', optional = true }\n" "$(cd "$bench" && pwd)" >> "$study"
fi
[[ -z $fresh ]] || printf 'fresh-%s = { seed = %s }\n' "$fresh" "$fresh" >> "$study"
code=0
"$trifold" study "$study" --out "$out" "${asked[@]}" "${more[@]}" || code=$?
case $code in 130 | 143) exit "$code" ;; esac  # it was interrupted; otherwise some cells have failed, and others have not
[[ -d $out/results && " ${more[*]} " != *" --plan "* ]] || exit "$code"

if [[ -n $lama ]]; then
  for domain in "${domains[@]}"; do
    for tests in "$out/suite/$domain/test" ${bench:+"$bench/$domain/test"} ${fresh:+"$out/fresh-$fresh/$domain/test"}; do
      [[ -d $tests ]] || continue
      set=suite
      [[ -z $bench || $tests != "$bench"/* ]] || set=public
      [[ $tests != "$out/fresh-"* ]] || set=fresh-$fresh
      "$trifold" reference "$tests" --first --timeout 60 --records "$out/results/$set/$domain.jsonl"
      if [[ $set == fresh-* ]]; then
        "$trifold" reference "$tests" --timeout 20 --records "$out/references.jsonl"
      fi
    done
  done
fi

references=()
for file in "$here"/references*.jsonl "$out"/references.jsonl; do
  [[ ! -e $file ]] || references+=(--references "$file")
done
"$python" "$here/results_page.py" "$out/results" "$here/lama" "${references[@]}" --notes "$here/tried.md" |
  tee "$out/results.md"
exit "$code"
