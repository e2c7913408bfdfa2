package holdfast;

import org.apache.spark.SparkContext;
import org.apache.spark.sql.execution.metric.SQLMetric;
import org.apache.spark.sql.execution.metric.SQLMetrics;
import org.apache.spark.sql.execution.streaming.state.StateStoreCustomMetric;

/**
 * A figure of the query's checkpoints among the metrics of its stateful operators.
 *
 * <p>Tasks add nothing to it: the driver sets it when a batch is committed, which is before Spark
 * reports the batch's progress.
 */
final class FigureMetric implements StateStoreCustomMetric {
  private static final String QUERY_ID = "sql.streaming.queryId";

  private final Figure figure;
  private final String description;

  FigureMetric(Figure figure) {
    this(figure, figure.description);
  }

  private FigureMetric(Figure figure, String description) {
    this.figure = figure;
    this.description = description;
  }

  @Override
  public String name() {
    return figure.metric;
  }

  @Override
  public String desc() {
    return description;
  }

  @Override
  public StateStoreCustomMetric withNewDesc(String text) {
    return new FigureMetric(figure, text);
  }

  @Override
  public SQLMetric createSQLMetric(SparkContext context) {
    SQLMetric metric = SQLMetrics.createMetric(context, description);
    Driver driver = Registry.driver();
    Figures figures = driver == null ? null : driver.figuresOf(context.getLocalProperty(QUERY_ID));
    if (figures != null) {
      figures.watch(told -> metric.set(told.get(figure)));
    }
    return metric;
  }
}
