/** Rotations of heads by what attention looks for and finds, and how far ranges may be cut. */
package dev.kvasir.lab.rotate;
