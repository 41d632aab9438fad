#!/usr/bin/env bash
# Looks for inputs that break a reader, with clang's libFuzzer and sanitizers: tests/fuzz/run.sh [SECONDS per reader, 600]
# Starts from tests/fuzz/corpus, keeps what it finds in build/fuzz. An input that breaks a reader is written to
# build/fuzz/crash-*. After the repair it belongs into the corpus, which keeps at most 30 files per reader: the smallest
# input of each error message that the reader gives, valid inputs, and a few more by size.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
seconds=${1:-600}
compiler=$(command -v clang++-19 || command -v clang++) || {
  echo "run.sh: no clang++ here; on Debian: apt install clang-19 libclang-rt-19-dev" >&2
  exit 2
}
common=(roofline/json_object.cpp kernels/common/{format,enum_names,error}.cpp)
declare -A sources=(
  [records]="harness/results/record.cpp roofline/model.cpp kernels/common/shape.cpp"
  [sheets]="roofline/parse_data_sheet.cpp"
  [models]="roofline/transformer/read_config.cpp roofline/transformer/transformer.cpp"
)
mkdir -p build/fuzz
for reader in records sheets models; do
  read -ra own <<<"${sources[$reader]}"
  "$compiler" -std=c++20 -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -I. \
    "tests/fuzz/$reader.cpp" "${own[@]}" "${common[@]}" -lfmt -o "build/fuzz/$reader"
  mkdir -p "build/fuzz/found-$reader"
  "build/fuzz/$reader" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=16384 -print_final_stats=1 \
    -artifact_prefix=build/fuzz/crash- "build/fuzz/found-$reader" "tests/fuzz/corpus/$reader"
done
