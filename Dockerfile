# The command line and the application, from the wheel. Checked by hadolint; it has not been built where it was written.
#
#   docker build --tag linkrisk .
#   docker run --rm -it -p 127.0.0.1:8080:8080 -v "$PWD/survey:/data" linkrisk      the application
#   docker run --rm -v "$PWD:/data" linkrisk fit --original a.csv --masked b.csv    any other command
#
# Publish the port on 127.0.0.1 alone: nothing is encrypted. Inside, the server listens at all addresses, as the loopback
# address of a container cannot be published; browsers call it by the address outside (--published-at), and any other
# name is refused. For another port: linkrisk app project --host 0.0.0.0 --port 8080 --published-at 127.0.0.1:9000.
FROM python:3.13-slim AS wheel
WORKDIR /source
COPY . .
RUN python -m pip install --no-cache-dir build==1.3.0 \
 && python -m build --outdir /wheels

FROM python:3.13-slim
COPY --from=wheel /wheels/*.whl /wheels/
RUN useradd --uid 10001 --create-home linkrisk \
 && mkdir /data \
 && chown linkrisk:linkrisk /data \
 && python -m pip install --no-cache-dir "$(echo /wheels/*.whl)[report,files,link,app]" \
 && rm -r /wheels
# Kernels are compiled into a folder that whoever runs the container can read; others are added to it at run time.
ENV NUMBA_CACHE_DIR=/var/cache/linkrisk
RUN mkdir --mode=1777 /var/cache/linkrisk \
 && linkrisk compile \
 && chmod --recursive a+rwX /var/cache/linkrisk
USER 10001
WORKDIR /data
VOLUME /data
EXPOSE 8080
ENTRYPOINT ["linkrisk"]
CMD ["app", "project", "--host", "0.0.0.0", "--port", "8080", "--published-at", "127.0.0.1:8080"]
