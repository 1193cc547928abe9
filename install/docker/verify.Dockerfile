# tclint verify, run and fix --verify, with torch for CUDA and a C++ compiler for inductor:
#   docker build -f install/docker/verify.Dockerfile -t tclint-verify .
#   docker run --rm --gpus all -v "$PWD:/src" tclint-verify verify package.module:make
FROM pytorch/pytorch:2.13.0-cuda13.0-cudnn9-runtime
# The base image's archive has one version of each.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends g++ git \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home --uid 10000 tclint
WORKDIR /build
COPY pyproject.toml setup.py README.md LICENSE ./
COPY tclint tclint
COPY rules rules
RUN python -m pip install --no-cache-dir --break-system-packages . numpy && rm -rf /build
USER 10000
WORKDIR /src
ENTRYPOINT ["tclint"]
CMD ["verify"]
