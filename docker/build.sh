#!/usr/bin/env bash
# Build the case images: docker/build.sh [--force] [IMAGE...]
#
# Images: every folder here whose Dockerfile names its parent, and `base`
# (default: all, parents first). An image whose inputs (Dockerfile, context,
# parent) did not change is left alone, so this may be run at any time.
#
# The base is ubuntu:24.04, from the engine or a registry. Where no registry
# answers, a Debian 12 root file system is made with debootstrap instead.
#
# Environment, all optional:
#   FAULTBOARD_BASE_IMAGE      the wanted base                  (ubuntu:24.04)
#   FAULTBOARD_PULL_TIMEOUT    seconds to wait for a registry   (30)
#   FAULTBOARD_DEBIAN_MIRROR   package mirror for debootstrap   (the host's, else deb.debian.org)
#   FAULTBOARD_DEBIAN_SECURITY its security suite               (the host's, else by the mirror)
#   FAULTBOARD_CA_BUNDLE       CA bundle for https mirrors      (the host's, if the mirror is https)
#   FAULTBOARD_BUILD_NETWORK   network of the build             (host)
set -euo pipefail

here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
wanted_base="${FAULTBOARD_BASE_IMAGE:-ubuntu:24.04}"
pull_timeout="${FAULTBOARD_PULL_TIMEOUT:-30}"
network="${FAULTBOARD_BUILD_NETWORK:-host}"
debian_image="faultboard/debian:12"
label="org.faultboard.inputs"
force=no
wanted=()

# What an image is built on, as its Dockerfile says: ARG PARENT=faultboard/NAME:1
parent_of() {
  sed -n 's/^ARG PARENT=faultboard\/\([a-z][a-z0-9-]*\):1$/\1/p' "$here/$1/Dockerfile"
}

known=(base)
for folder in "$here"/*/; do
  name="$(basename "$folder")"
  [ "$name" = base ] || [ ! -f "$folder/Dockerfile" ] || [ -z "$(parent_of "$name")" ] || known+=("$name")
done

say() { printf '%s %s\n' "$(date -u +%H:%M:%S)" "$*"; }
die() { printf 'build.sh: %s\n' "$*" >&2; exit 1; }

for arg in "$@"; do
  case "$arg" in
    --force) force=yes ;;
    -h|--help) sed -n '2,/^set -/{/^set -/!s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"; exit 0 ;;
    *)
      [[ " ${known[*]} " = *" $arg "* ]] || die "unknown argument '$arg' (images: ${known[*]})"
      wanted+=("$arg")
      ;;
  esac
done
[ "${#wanted[@]}" -gt 0 ] || wanted=("${known[@]}")

scratch="$(mktemp -d)"
trap 'rm -rf --one-file-system "$scratch"' EXIT

image_id() { docker image inspect --format '{{.Id}}' "$1" 2>/dev/null || true; }
image_label() { docker image inspect --format "{{index .Config.Labels \"$label\"}}" "$1" 2>/dev/null || true; }

# The first address from which this host installs the suite; nothing if none.
host_mirror() {
  command -v apt-get >/dev/null || return 0
  apt-get indextargets --format '$(RELEASE) $(REPO_URI)' 'Created-By: Packages' 2>/dev/null \
    | awk -v suite="$1" '$1 == suite { sub(/\/$/, "", $2); print $2; exit }' || true
}

debian_mirror="${FAULTBOARD_DEBIAN_MIRROR:-$(host_mirror bookworm)}"
debian_mirror="${debian_mirror:-http://deb.debian.org/debian}"
debian_security="${FAULTBOARD_DEBIAN_SECURITY:-$(host_mirror bookworm-security)}"
debian_security="${debian_security:-${debian_mirror%/debian}/debian-security}"

ca_bundle="${FAULTBOARD_CA_BUNDLE:-}"
if [ -z "$ca_bundle" ]; then
  case "$debian_mirror $debian_security" in
    *https://*) [ -s /etc/ssl/certs/ca-certificates.crt ] && ca_bundle=/etc/ssl/certs/ca-certificates.crt ;;
  esac
fi

make_debian() {
  if [ "$force" = no ] && [ -n "$(image_id "$debian_image")" ]; then
    say "base: $debian_image is there"
    return
  fi
  command -v debootstrap >/dev/null || die "no registry answers for $wanted_base, and debootstrap is not installed (apt-get install debootstrap)"
  [ "$(id -u)" = 0 ] || die "no registry answers for $wanted_base, and debootstrap needs root"
  say "base: debootstrap bookworm from $debian_mirror (about a minute)"
  local root="$scratch/rootfs"
  debootstrap --variant=minbase bookworm "$root" "$debian_mirror" >"$scratch/debootstrap.log" 2>&1 \
    || { tail -n 20 "$scratch/debootstrap.log" >&2; die "debootstrap failed"; }
  cat >"$root/etc/apt/sources.list" <<LIST
deb $debian_mirror bookworm main
deb $debian_mirror bookworm-updates main
deb $debian_security bookworm-security main
LIST
  rm -rf "$root"/var/cache/apt/archives/*.deb "$root"/var/cache/apt/*.bin "$root"/var/lib/apt/lists/* \
    "$root"/var/log/*.log "$root"/var/log/apt "$root"/usr/share/doc/* "$root"/usr/share/man/*
  mkdir -p "$root/var/lib/apt/lists/partial"
  say "base: importing $debian_image"
  tar -C "$root" --numeric-owner -c . \
    | docker import --change 'CMD ["bash"]' --change "LABEL $label=debootstrap" - "$debian_image" >/dev/null
  rm -rf --one-file-system "$root"
}

choose_base() {
  if [ -n "$(image_id "$wanted_base")" ]; then
    base_image="$wanted_base"
    say "base: $wanted_base is there"
  elif [ -n "$(image_id "$debian_image")" ] && [ "$force" = no ]; then
    # A machine that had no registry when its images were made keeps its base:
    # digests of results must not move by the weather of the network.
    base_image="$debian_image"
    say "base: $debian_image is there"
  elif say "base: asking for $wanted_base (at most $pull_timeout s)" \
      && timeout --kill-after=5 "$pull_timeout" docker pull -q "$wanted_base" >"$scratch/pull.log" 2>&1 </dev/null; then
    base_image="$wanted_base"
  else
    say "base: no registry gives $wanted_base ($(tail -n 1 "$scratch/pull.log" 2>/dev/null | cut -c1-160))"
    make_debian
    base_image="$debian_image"
  fi
}

build() {
  local name="$1" tag="faultboard/$1:1" parent inputs context args=()
  parent="$(parent_of "$name")"
  context="$scratch/context-$name"
  rm -rf "$context"
  cp -r "$here/$name" "$context"
  if [ "$name" = base ]; then
    choose_base
    args+=(--build-arg "BASE=$base_image")
    mkdir -p "$context/build-ca"
    echo "A CA bundle for https package mirrors, where one is needed." >"$context/build-ca/README"
    [ -z "$ca_bundle" ] || cp "$ca_bundle" "$context/build-ca/ca-bundle.crt"
    inputs="$(image_id "$base_image")"
  else
    [ -n "$(image_id "faultboard/$parent:1")" ] || build "$parent"
    args+=(--build-arg "PARENT=faultboard/$parent:1")
    inputs="$(image_id "faultboard/$parent:1")"
  fi
  # Names, modes and bytes of the context, and the parent's identity.
  inputs="$({ echo "$inputs"; cd "$context" && find . -type f -print0 | sort -z | xargs -0 sha256sum; } | sha256sum | cut -d' ' -f1)"
  if [ "$force" = no ] && [ "$(image_label "$tag")" = "$inputs" ]; then
    say "$name: $tag is up to date"
    return
  fi
  local var
  for var in http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY; do
    [ -z "${!var:-}" ] || args+=(--build-arg "$var=${!var}")
  done
  say "$name: building $tag"
  DOCKER_BUILDKIT=0 docker build --network "$network" --force-rm --label "$label=$inputs" -t "$tag" "${args[@]}" "$context" \
    >"$scratch/$name.log" 2>&1 || { tail -n 40 "$scratch/$name.log" >&2; die "building $tag failed"; }
  say "$name: built $tag ($(docker image inspect --format '{{.Size}}' "$tag" | awk '{ printf "%.0f MB", $1 / 1e6 }'))"
}

docker version --format '{{.Server.Version}}' >/dev/null 2>&1 || die "no Docker engine answers (DOCKER_HOST=${DOCKER_HOST:-unset})"
for name in "${wanted[@]}"; do
  build "$name"
done
say "done"
