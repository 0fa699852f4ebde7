/**
 * The lab's work in pieces: what a piece is and needs, and who runs them. Plans cut their work and
 * put its results together; they do not know whether pieces run here or on other machines.
 */
package dev.kvasir.lab.work;
