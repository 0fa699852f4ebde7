package dev.kvasir.codec.commvq;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.LayerRotations;
import dev.kvasir.profile.Profile;
import java.lang.foreign.SegmentAllocator;

/** How values become codes. Each way has its own profile part, which also holds keys. */
public enum ValueCoding {
  /** Rows of residual stages, found by search. */
  STAGES {
    @Override
    public String part(int bits) {
      return CommvqProfile.part(bits);
    }

    @Override
    CommvqShape shape(Profile profile, int bits, CacheShape shape) {
      return CommvqProfile.shape(profile, bits, shape);
    }

    @Override
    CommvqShape untrainedShape(int bits, CacheShape shape) {
      return CommvqShape.trainedByDefault(bits, shape);
    }

    @Override
    ModelCodebooks codebooks(
        Profile profile,
        int bits,
        CacheShape shape,
        LayerRotations rotations,
        SegmentAllocator memory) {
      return ModelCodebooks.of(CommvqProfile.of(profile, bits, shape).layers(), rotations, memory);
    }

    @Override
    long bytes(Profile profile, int bits, CacheShape shape, LayerRotations rotations) {
      return ModelCodebooks.bytesFor(shape.layers(), shape(profile, bits, shape), rotations);
    }
  },

  /** Bits that the paper's network chooses. */
  ENCODER {
    @Override
    public String part(int bits) {
      return EncoderProfile.part(bits);
    }

    @Override
    CommvqShape shape(Profile profile, int bits, CacheShape shape) {
      return EncoderProfile.shape(profile, bits, shape);
    }

    @Override
    CommvqShape untrainedShape(int bits, CacheShape shape) {
      return EncoderProfile.untrainedShape(bits, shape);
    }

    @Override
    ModelCodebooks codebooks(
        Profile profile,
        int bits,
        CacheShape shape,
        LayerRotations rotations,
        SegmentAllocator memory) {
      return EncoderProfile.codebooks(profile, bits, shape, rotations, memory);
    }

    @Override
    long bytes(Profile profile, int bits, CacheShape shape, LayerRotations rotations) {
      return EncoderProfile.bytes(profile, bits, shape, rotations);
    }
  };

  /** Returns the name of the profile part for a bit width, which is also the cache to calibrate. */
  public abstract String part(int bits);

  /** Returns the layout of pages with a profile's numbers; rejects numbers of other shapes. */
  abstract CommvqShape shape(Profile profile, int bits, CacheShape shape);

  /** Returns the layout of pages after a training with default settings. */
  abstract CommvqShape untrainedShape(int bits, CacheShape shape);

  /** Reads a profile. */
  abstract ModelCodebooks codebooks(
      Profile profile,
      int bits,
      CacheShape shape,
      LayerRotations rotations,
      SegmentAllocator memory);

  /** Returns the bytes of what {@link #codebooks} will read. */
  abstract long bytes(Profile profile, int bits, CacheShape shape, LayerRotations rotations);
}
