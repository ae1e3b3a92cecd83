/* One consumer of a group, moved by commands.
 *
 *     driver COMMANDS
 *
 * Started as the program under test. Reads one command a line from a named pipe
 * and reports with one JSON line each on standard output. It decides nothing.
 *
 * Commands: `start BOOTSTRAP GROUP TOPIC STRATEGY`, `close`, `ping TOKEN`.
 * Reports: {"join":"..."} when the state of joining changes, {"message":"..."},
 * {"closed":true}, {"pong":"TOKEN"}, {"trouble":"..."}.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rdkafka.h"

static rd_kafka_t *consumer;
static char join_state[64];

static int stats(rd_kafka_t *rk, char *json, size_t len, void *opaque) {
        const char *at = strstr(json, "\"join_state\"");
        char now[64] = "";
        (void)rk, (void)len, (void)opaque;
        if (at && sscanf(at, "\"join_state\" : \"%63[a-z-]", now) == 1 && strcmp(now, join_state)) {
                strcpy(join_state, now);
                printf("{\"join\":\"%s\"}\n", now);
        }
        return 0;
}

static void set(rd_kafka_conf_t *conf, const char *name, const char *value) {
        char why[512];
        if (rd_kafka_conf_set(conf, name, value, why, sizeof(why)))
                printf("{\"trouble\":\"%s is refused\"}\n", name);
}

static void start(const char *bootstrap, const char *group, const char *topic, const char *strategy) {
        char why[512];
        rd_kafka_conf_t *conf = rd_kafka_conf_new();
        set(conf, "bootstrap.servers", bootstrap);
        set(conf, "group.id", group);
        set(conf, "partition.assignment.strategy", strategy);
        set(conf, "auto.offset.reset", "earliest");
        set(conf, "statistics.interval.ms", "100");
        /* The simulated coordinator waits nearly so long for members to come back. */
        set(conf, "session.timeout.ms", "6000");
        set(conf, "heartbeat.interval.ms", "1000");
        rd_kafka_conf_set_stats_cb(conf, stats);
        if (!(consumer = rd_kafka_new(RD_KAFKA_CONSUMER, conf, why, sizeof(why)))) {
                printf("{\"trouble\":\"no consumer\"}\n");
                return;
        }
        rd_kafka_poll_set_consumer(consumer);
        rd_kafka_topic_partition_list_t *topics = rd_kafka_topic_partition_list_new(1);
        rd_kafka_topic_partition_list_add(topics, topic, RD_KAFKA_PARTITION_UA);
        if (rd_kafka_subscribe(consumer, topics))
                printf("{\"trouble\":\"no subscription\"}\n");
        rd_kafka_topic_partition_list_destroy(topics);
}

static void run(const char *line) {
        char a[256], b[128], c[128], d[128];
        if (sscanf(line, "start %255s %127s %127s %127s", a, b, c, d) == 4)
                start(a, b, c, d);
        else if (!strncmp(line, "close", 5) && consumer) {
                rd_kafka_consumer_close(consumer);
                rd_kafka_destroy(consumer);
                consumer = NULL;
                printf("{\"closed\":true}\n");
        } else if (sscanf(line, "ping %127s", a) == 1)
                printf("{\"pong\":\"%s\"}\n", a);
}

int main(int argc, char **argv) {
        static char input[8192];
        size_t have = 0;
        int fd = argc == 2 ? open(argv[1], O_RDONLY) : -1;
        if (fd < 0)
                return 2;
        setvbuf(stdout, NULL, _IOLBF, 0);
        for (;;) {
                struct pollfd p = {.fd = fd, .events = POLLIN};
                if (poll(&p, 1, consumer ? 0 : 200) > 0) {
                        ssize_t n = read(fd, input + have, sizeof(input) - 1 - have);
                        if (n <= 0)
                                return 0;
                        have += (size_t)n;
                        input[have] = 0;
                        for (char *end; (end = strchr(input, '\n'));) {
                                *end = 0;
                                run(input);
                                have -= (size_t)(end + 1 - input);
                                memmove(input, end + 1, have + 1);
                        }
                }
                if (!consumer)
                        continue;
                rd_kafka_message_t *m = rd_kafka_consumer_poll(consumer, 50);
                if (m && !m->err)
                        printf("{\"message\":\"%.*s\"}\n", (int)m->len, (const char *)m->payload);
                if (m)
                        rd_kafka_message_destroy(m);
        }
}
