#!/bin/sh
# Starts the product in its image. The engine mounts the folders of cases from
# the host, so the shipped ones are laid into the data folder, which has the
# same path there; a folder of cases that was set otherwise is left alone.
set -eu
shipped=/opt/faultboard/cases
if [ "${FAULTBOARD_CASES_DIR:-$shipped}" = "$shipped" ]; then
  fresh="$FAULTBOARD_DATA_DIR/cases.new"
  rm -rf "$fresh"
  cp -r "$shipped" "$fresh"
  rm -rf "$FAULTBOARD_DATA_DIR/cases"
  mv "$fresh" "$FAULTBOARD_DATA_DIR/cases"
  export FAULTBOARD_CASES_DIR="$FAULTBOARD_DATA_DIR/cases"
fi
exec /opt/faultboard/bin/faultboard "$@"
