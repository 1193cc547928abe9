# tclint check and fix, without torch: docker build -f install/docker/check.Dockerfile -t tclint .
#   docker run --rm -v "$PWD:/src" tclint check src/
FROM python:3.13-slim AS build
WORKDIR /build
COPY pyproject.toml setup.py README.md LICENSE ./
COPY tclint tclint
COPY rules rules
RUN pip wheel --no-cache-dir --no-deps -w /wheels .

FROM python:3.13-slim
RUN useradd --create-home --uid 1000 tclint
COPY requirements/run.txt /tmp/run.txt
COPY --from=build /wheels /wheels
RUN pip install --no-cache-dir --require-hashes -r /tmp/run.txt \
    && pip install --no-cache-dir --no-deps /wheels/*.whl \
    && rm -rf /wheels /tmp/run.txt
USER 1000
WORKDIR /src
ENTRYPOINT ["tclint"]
CMD ["check"]
