package dev.kvasir.kernel;

import java.util.List;

/**
 * Products of rows that are cut into heads with a matrix of each head, all in one go over a crew:
 * head h of every row with matrix h. What a row becomes does not depend on how many there are.
 *
 * <p>Holds its scratch memory, so one instance serves one caller at a time.
 */
public final class HeadProducts {
  /** Rows of a part: enough that a matrix is read few times, few enough for a worker's room. */
  private static final int STRIP = 32;

  private static final int TILE = CodedMatrix.TILE_ROWS;

  private final Kernels kernels;
  private final Crew crew;
  private final Room[] rooms; // a worker each

  private List<Matrix> matrices; // by head
  private float[] x;
  private int xStride;
  private int rows;
  private float[] out;
  private int outStride;

  private final Crew.Work multiply = this::multiply;

  /** What one worker gathers a head's rows in. */
  private static final class Room {
    private final CodedRows coded = new CodedRows();
    private final TileRoom tiles = new TileRoom();
    private final RowBlock out = new RowBlock();
    private float[] inputs = {}; // (rows, columns of a matrix)
    private float[] outputs = {}; // (rows, rows of a matrix)

    private void makeRoom(int inputCount, int outputCount) {
      inputs = inputs.length < inputCount ? new float[inputCount] : inputs;
      outputs = outputs.length < outputCount ? new float[outputCount] : outputs;
    }
  }

  public HeadProducts(Kernels kernels, Crew crew) {
    this.kernels = kernels;
    this.crew = crew;
    this.rooms = new Room[crew.size()];
    for (int worker = 0; worker < rooms.length; worker++) {
      rooms[worker] = new Room();
    }
  }

  /**
   * {@code to[row][head] = matrix of the head . from[row][head]}.
   *
   * @param ofHeads one matrix for each head, all of the same shape
   * @param from (count, heads), each {@code fromStride} wide, of which the first columns are taken
   * @param to (count, heads), each {@code toStride} wide, of which the first rows are set
   */
  public void multiply(
      List<Matrix> ofHeads, int count, float[] from, int fromStride, float[] to, int toStride) {
    matrices = ofHeads;
    rows = count;
    x = from;
    xStride = fromStride;
    out = to;
    outStride = toStride;
    crew.run(multiply, matrices.size() * Math.ceilDiv(rows, STRIP));
  }

  private void multiply(int part, int worker) {
    int heads = matrices.size();
    int head = part % heads;
    int first = part / heads * STRIP;
    int count = Math.min(STRIP, rows - first);
    Matrix matrix = matrices.get(head);
    Room room = rooms[worker];
    room.makeRoom(count * matrix.columns(), count * matrix.rows());
    int columns = matrix.columns();
    for (int row = 0; row < count; row++) {
      int at = ((first + row) * heads + head) * xStride;
      System.arraycopy(x, at, room.inputs, row * columns, columns);
    }
    multiply(matrix, count, room);
    for (int row = 0; row < count; row++) {
      int at = ((first + row) * heads + head) * outStride;
      System.arraycopy(room.outputs, row * matrix.rows(), out, at, matrix.rows());
    }
  }

  private void multiply(Matrix matrix, int count, Room room) {
    switch (matrix) {
      case CodedMatrix codes -> multiplyCoded(codes, count, room);
      case DenseMatrix dense -> multiplyDense(dense, count, room);
    }
  }

  private void multiplyCoded(CodedMatrix matrix, int count, Room room) {
    CodedKernels coded = kernels.coded();
    room.coded.begin(count, matrix.columns());
    coded.prepare(room.coded, room.inputs, 0, count);
    room.out.set(room.outputs, count, matrix.rows());
    coded.products(matrix, 0, matrix.tiles(), room.coded, 0, room.out, room.tiles);
  }

  private void multiplyDense(DenseMatrix matrix, int count, Room room) {
    HalfKernels halves = kernels.halves();
    for (int row = 0; row < matrix.rows(); row += TILE) {
      int tileRows = Math.min(TILE, matrix.rows() - row);
      room.out.set(room.outputs, row, matrix.rows(), count, tileRows);
      halves.products(room.inputs, matrix, row, room.out, room.tiles);
    }
  }
}
