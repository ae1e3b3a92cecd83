#!/usr/bin/env bash
# Get the faulty tree and compile the server once, with the distribution's own
# libraries. Runs with network; nothing after it does.
set -euo pipefail

pool=pool/main/z/zookeeper/zookeeper_3.9.3.orig.tar.gz
# The distribution's archive keeps what its mirrors drop one day.
fb-fetch /work/all ||
  FAULTBOARD_SOURCE_URL="http://snapshot.debian.org/archive/debian/20250401T000000Z/$pool" fb-fetch /work/all

# The server and the records that it is made of; no clients in C, no documents.
mkdir -p /work/tree /work/lib /work/jars /work/gen/compiler /work/gen/records
cp -r /work/all/{zookeeper-server,zookeeper-jute,LICENSE.txt,NOTICE.txt} /work/tree/
rm -rf /work/all /work/tree/zookeeper-server/src/test /work/tree/zookeeper-jute/src/test
# The distribution's Netty lacks an argument that later ones ask for.
sed -i 's/SslHandler.isEncrypted(Unpooled.wrappedBuffer(litmus), false)/SslHandler.isEncrypted(Unpooled.wrappedBuffer(litmus))/' \
  /work/tree/zookeeper-server/src/main/java/org/apache/zookeeper/server/quorum/UnifiedServerSocket.java

for jar in commons-cli commons-io findbugs-annotations jackson-annotations jackson-core jackson-databind jline2 \
  metrics-core netty-all netty-buffer netty-codec netty-common netty-handler netty-resolver netty-transport \
  netty-transport-native-epoll netty-transport-native-unix-common servlet-api slf4j-api snappy-java \
  jetty9-client jetty9-http jetty9-io jetty9-security jetty9-server jetty9-servlet jetty9-util; do
  ln -s "/usr/share/java/$jar.jar" "/work/jars/$jar.jar"
done

# What the tree marks its interfaces with comes from no package: marks without effect.
marks=/work/gen/marks/org/apache/yetus/audience
mkdir -p "$marks"
cat >"$marks/InterfaceAudience.java" <<'JAVA'
package org.apache.yetus.audience;
public final class InterfaceAudience {
    public @interface Public { }
    public @interface Private { }
}
JAVA
cat >"$marks/InterfaceStability.java" <<'JAVA'
package org.apache.yetus.audience;
public final class InterfaceStability {
    public @interface Evolving { }
}
JAVA

# The compiler of records, then the records.
jute=/work/tree/zookeeper-jute/src/main
javacc -OUTPUT_DIRECTORY=/work/gen/compiler "$jute/java/org/apache/jute/compiler/generated/rcc.jj" >/dev/null 2>&1
find "$jute/java" /work/gen -name '*.java' >/work/gen/first
javac -nowarn -proc:none -d /work/lib @/work/gen/first
(cd /work/gen/records && java -cp /work/lib org.apache.jute.compiler.generated.Rcc -l java "$jute/resources/zookeeper.jute")
mkdir -p /work/gen/records/org/apache/zookeeper/version
sed 's/${parsedVersion.majorVersion}/3/; s/${parsedVersion.minorVersion}/9/; s/${parsedVersion.incrementalVersion}/3/
  s/${parsedVersion.qualifier}//g; s/${mvngit.commit.id}/unknown/; s/${build.time}/unknown/' \
  /work/tree/zookeeper-server/src/main/java-filtered/org/apache/zookeeper/version/Info.java \
  >/work/gen/records/org/apache/zookeeper/version/Info.java
find /work/gen/records -name '*.java' >/work/gen/second
javac -nowarn -proc:none -cp /work/lib -d /work/lib @/work/gen/second
rm -rf /work/gen

# As a rebuild does it.
mkdir /work/classes
find /work/tree/zookeeper-server/src/main/java -name '*.java' >/work/sources
javac -nowarn -proc:none -cp '/work/lib:/work/jars/*' -d /work/classes @/work/sources
rm /work/sources
find /work/classes -name '*.class' | wc -l
