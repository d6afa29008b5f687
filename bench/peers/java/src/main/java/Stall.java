// SPDX-License-Identifier: Apache-2.0

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import com.datastax.oss.driver.api.core.config.DriverConfigLoader;
import com.datastax.oss.driver.api.core.cql.AsyncResultSet;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.session.Session;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The load program of the Java driver: an open loop of requests at a fixed rate. Flags and output are those of the Go
 * programs (bench/stall/load). The requests are asynchronous, so the program has a fixed number of threads.
 */
public final class Stall {
  private static final Pattern DURATION = Pattern.compile("([0-9.]+)(h|ms|m|s)");

  private final CqlSession session;
  private final PreparedStatement statement;
  private final boolean insert;
  private final int keys;
  private final AtomicLongArray latencies;
  private final Map<String, Long> errors = new ConcurrentHashMap<>();
  private final CountDownLatch left;

  private Stall(CqlSession session, PreparedStatement statement, boolean insert, int keys, int requests, int warm) {
    this.session = session;
    this.statement = statement;
    this.insert = insert;
    this.keys = keys;
    latencies = new AtomicLongArray(requests);
    left = new CountDownLatch(requests + warm);
  }

  public static void main(String[] args) throws Exception {
    Map<String, String> flags = new HashMap<>();
    for (int i = 0; i + 1 < args.length; i += 2) {
      flags.put(args[i].replaceFirst("^-+", ""), args[i + 1]);
    }
    int rate = Integer.parseInt(flags.getOrDefault("rate", "500"));
    Duration duration = parse(flags.getOrDefault("duration", "10s"));
    Duration warmup = parse(flags.getOrDefault("warmup", "3s"));
    Duration timeout = parse(flags.getOrDefault("timeout", "1s"));
    boolean insert = flags.getOrDefault("case", "read").equals("insert");
    String table = flags.getOrDefault("table", "stall.t");

    var config =
        DriverConfigLoader.programmaticBuilder()
            .withDuration(DefaultDriverOption.REQUEST_TIMEOUT, timeout)
            .withString(DefaultDriverOption.REQUEST_CONSISTENCY, "LOCAL_QUORUM")
            .build();
    var builder = CqlSession.builder().withConfigLoader(config).withLocalDatacenter("datacenter1");
    for (String host : flags.getOrDefault("hosts", "").split(",")) {
      builder.addContactPoint(new InetSocketAddress(host, 9042));
    }
    try (CqlSession session = builder.build()) {
      var statement =
          session.prepare(
              insert ? "INSERT INTO " + table + " (k, v) VALUES (?, ?)" : "SELECT v FROM " + table + " WHERE k = ?");
      int keys = Integer.parseInt(flags.getOrDefault("keys", "1000"));
      int requests = (int) (duration.toMillis() * rate / 1000);
      int warm = (int) (warmup.toMillis() * rate / 1000);
      new Stall(session, statement, insert, keys, requests, warm).run(rate, warm, warmup, timeout);
    }
  }

  /** Parses a duration as Go prints it: "1m2.5s", "500ms". */
  private static Duration parse(String text) {
    double seconds = 0;
    for (Matcher m = DURATION.matcher(text); m.find(); ) {
      double unit =
          switch (m.group(2)) {
            case "h" -> 3600;
            case "m" -> 60;
            case "ms" -> 0.001;
            default -> 1;
          };
      seconds += Double.parseDouble(m.group(1)) * unit;
    }
    return Duration.ofMillis(Math.round(seconds * 1000));
  }

  /** Sends the requests, waits for their ends and prints the result. */
  private void run(int rate, int warm, Duration warmup, Duration timeout) throws InterruptedException {
    long start = System.nanoTime() + warmup.toNanos();
    long startMicros = ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now()) + warmup.toNanos() / 1000;
    System.out.println(startMicros);
    var threads = ManagementFactory.getThreadMXBean();
    for (int i = -warm; i < latencies.length(); i++) {
      long due = start + i * 1_000_000_000L / rate;
      for (long wait = due - System.nanoTime(); wait > 0; wait = due - System.nanoTime()) {
        LockSupport.parkNanos(wait);
      }
      if (i == 0) {
        threads.resetPeakThreadCount();
      }
      send(i, due);
    }
    left.await();
    System.out.println(
        "{\"driver\":\"java\",\"version\":\"" + Session.OSS_DRIVER_COORDINATES.getVersion() + "\",\"start_us\":" + startMicros
            + ",\"rate\":" + rate + ",\"timeout_us\":" + timeout.toNanos() / 1000 + ",\"peak\":" + threads.getPeakThreadCount()
            + ",\"peak_of\":\"threads\",\"errors\":{"
            + errors.entrySet().stream().map(e -> "\"" + e.getKey() + "\":" + e.getValue()).collect(Collectors.joining(","))
            + "},\"latencies_us\":" + latencies.toString().replace(" ", "") + "}");
  }

  private void send(int i, long due) {
    int key = (int) Math.floorMod(i * 7919L, (long) keys);
    var bound = insert ? statement.bind(key, key) : statement.bind(key);
    session.executeAsync(bound).whenComplete((rows, error) -> done(i, due, insert ? error : check(rows, error, key)));
  }

  private static Throwable check(AsyncResultSet rows, Throwable error, int key) {
    if (error != null) {
      return error;
    }
    var row = rows.one();
    return row != null && row.getInt(0) == key ? null : new IllegalStateException("wrong row: " + row);
  }

  private void done(int i, long due, Throwable error) {
    if (i >= 0) {
      long took = (System.nanoTime() - due) / 1000;
      if (error != null) {
        took = -Math.max(1, took);
        errors.merge(shorten(error), 1L, Long::sum);
      }
      latencies.set(i, took);
    }
    left.countDown();
  }

  /** Returns the text of an error without numbers, so that errors of one kind are one, and without what JSON escapes. */
  private static String shorten(Throwable error) {
    String text = error.toString().lines().findFirst().orElse("").replaceAll("[0-9][0-9.]*", "0");
    text = text.replace('"', '\'').replace('\\', '/').replaceAll("\\p{Cntrl}", "");
    return text.substring(0, Math.min(text.length(), 160));
  }
}
