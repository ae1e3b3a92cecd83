/* A simulated Kafka cluster on loopback, by the library's own simulator.
 *
 *     cluster BROKERS
 *
 * Prints the bootstrap address, then reads one command a line and answers each
 * with `ok` or `error ...`:
 *
 *   topic NAME PARTITIONS REPLICAS
 *   leader TOPIC PARTITION BROKER
 *   errors BROKER API COUNT CODE MILLISECONDS   the next COUNT requests of that
 *                                  kind are answered so late and with that code
 *   produce TOPIC PARTITION PAYLOAD
 *
 * Ends with its standard input.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rdkafka.h"
#include "rdkafka_mock.h"

static rd_kafka_mock_cluster_t *cluster;
static rd_kafka_t *producer;

static const char *produce(const char *topic, int partition, const char *payload) {
        rd_kafka_resp_err_t err = rd_kafka_producev(
            producer, RD_KAFKA_V_TOPIC(topic), RD_KAFKA_V_PARTITION(partition),
            RD_KAFKA_V_VALUE((void *)payload, strlen(payload)), RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
            RD_KAFKA_V_END);
        if (!err)
                err = rd_kafka_flush(producer, 15000);
        return err ? rd_kafka_err2name(err) : NULL;
}

static const char *run(char *line) {
        char topic[128], payload[256];
        int a, b, c, d, e;
        rd_kafka_resp_err_t err = RD_KAFKA_RESP_ERR__INVALID_ARG;
        if (sscanf(line, "topic %127s %d %d", topic, &a, &b) == 3)
                err = rd_kafka_mock_topic_create(cluster, topic, a, b);
        else if (sscanf(line, "leader %127s %d %d", topic, &a, &b) == 3)
                err = rd_kafka_mock_partition_set_leader(cluster, topic, a, b);
        else if (sscanf(line, "errors %d %d %d %d %d", &a, &b, &c, &d, &e) == 5)
                for (err = 0; c > 0 && !err; c--)
                        err = rd_kafka_mock_broker_push_request_error_rtts(
                            cluster, a, (int16_t)b, 1, (rd_kafka_resp_err_t)d, e);
        else if (sscanf(line, "produce %127s %d %255s", topic, &a, payload) == 3)
                return produce(topic, a, payload);
        return err ? rd_kafka_err2name(err) : NULL;
}

int main(int argc, char **argv) {
        char why[512], line[1024];
        rd_kafka_t *handle = rd_kafka_new(RD_KAFKA_PRODUCER, rd_kafka_conf_new(), why, sizeof(why));
        if (argc != 2 || !handle || !(cluster = rd_kafka_mock_cluster_new(handle, atoi(argv[1]))))
                return 1;
        rd_kafka_conf_t *conf = rd_kafka_conf_new();
        rd_kafka_conf_set(conf, "bootstrap.servers", rd_kafka_mock_cluster_bootstraps(cluster), why, sizeof(why));
        /* A message is not held back, and a batch holds no second one. */
        rd_kafka_conf_set(conf, "linger.ms", "0", why, sizeof(why));
        rd_kafka_conf_set(conf, "batch.num.messages", "1", why, sizeof(why));
        if (!(producer = rd_kafka_new(RD_KAFKA_PRODUCER, conf, why, sizeof(why))))
                return 1;
        setvbuf(stdout, NULL, _IOLBF, 0);
        printf("%s\n", rd_kafka_mock_cluster_bootstraps(cluster));
        while (fgets(line, sizeof(line), stdin)) {
                const char *wrong = run(line);
                printf(wrong ? "error %s\n" : "ok\n", wrong);
        }
        return 0;
}
