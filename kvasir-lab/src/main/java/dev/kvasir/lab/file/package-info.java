/** Files that the lab reads and writes. */
package dev.kvasir.lab.file;
