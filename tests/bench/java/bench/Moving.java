package bench;

import java.io.File;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.URL;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.api.java.UDF3;

/**
 * Moves one large file on an executor: as RocksDB's file manager does, on any filesystem, or by a
 * plain request, which nothing checks or which is signed for the SHA-256 of what it sends.
 *
 * <p>Called as a function of SQL: the file's number, what to do, and a line of text for each file,
 * {@code local<TAB>other}, after a first line with the configuration's pairs. Returns its bytes.
 */
public final class Moving implements UDF3<Long, String, String, Long> {
  private static final long serialVersionUID = 1;
  private static final int BUFFER_BYTES = 1 << 18;
  private static final Map<String, Configuration> CONFS = new ConcurrentHashMap<>();

  @Override
  public Long call(Long number, String what, String text) throws IOException {
    String[] lines = text.split("\n");
    String[] fields = lines[1 + number.intValue()].split("\t");
    File local = new File(fields[0]);
    switch (what) {
      case "put":
        put(local, fields[1], null);
        break;
      case "checked":
        put(local, fields[1], sha256(local));
        break;
      case "get":
        get(local, fields[1]);
        break;
      case "save":
        files(lines[0], fields[1]).copyFromLocalFile(new Path(local.toURI()), new Path(fields[1]));
        break;
      default:
        files(lines[0], fields[1]).copyToLocalFile(new Path(fields[1]), new Path(local.toURI()));
    }
    return local.length();
  }

  private static FileSystem files(String pairs, String path) throws IOException {
    return new Path(path).getFileSystem(conf(pairs));
  }

  /** A configuration as tasks have it; pairs are {@code key=value}, a NUL between two. */
  static Configuration conf(String pairs) {
    return CONFS.computeIfAbsent(pairs, Moving::read);
  }

  private static Configuration read(String pairs) {
    Configuration conf = new Configuration();
    conf.setClassLoader(Thread.currentThread().getContextClassLoader());
    for (String pair : pairs.split("\u0000")) {
      int at = pair.indexOf('=');
      conf.set(pair.substring(0, at), pair.substring(at + 1).replace('\u0001', '\n'));
    }
    return conf;
  }

  private static void put(File local, String url, String sha256) throws IOException {
    HttpURLConnection request = (HttpURLConnection) new URL(url).openConnection();
    request.setRequestMethod("PUT");
    request.setDoOutput(true);
    request.setFixedLengthStreamingMode(local.length());
    if (sha256 != null) {
      request.setRequestProperty("x-amz-checksum-sha256", sha256);
    }
    try (InputStream in = new FileInputStream(local);
        OutputStream out = request.getOutputStream()) {
      copy(in, out);
    }
    require(request);
  }

  private static String sha256(File local) throws IOException {
    MessageDigest digest = digest();
    byte[] buffer = new byte[BUFFER_BYTES];
    try (InputStream in = new FileInputStream(local)) {
      for (int count = in.read(buffer); count >= 0; count = in.read(buffer)) {
        digest.update(buffer, 0, count);
      }
    }
    return Base64.getEncoder().encodeToString(digest.digest());
  }

  private static MessageDigest digest() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException absent) {
      throw new IllegalStateException("every Java has SHA-256", absent);
    }
  }

  private static void get(File local, String url) throws IOException {
    HttpURLConnection request = (HttpURLConnection) new URL(url).openConnection();
    try (InputStream in = request.getInputStream();
        OutputStream out = new FileOutputStream(local)) {
      copy(in, out);
    }
    require(request);
  }

  private static void require(HttpURLConnection request) throws IOException {
    if (request.getResponseCode() != HttpURLConnection.HTTP_OK) {
      throw new IOException("a plain request failed: HTTP " + request.getResponseCode());
    }
  }

  private static void copy(InputStream in, OutputStream out) throws IOException {
    byte[] buffer = new byte[BUFFER_BYTES];
    for (int count = in.read(buffer); count >= 0; count = in.read(buffer)) {
      out.write(buffer, 0, count);
    }
  }
}
