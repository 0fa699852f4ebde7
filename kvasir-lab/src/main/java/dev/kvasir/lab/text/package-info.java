/** The prose that evaluations read, and how it was made. */
package dev.kvasir.lab.text;
