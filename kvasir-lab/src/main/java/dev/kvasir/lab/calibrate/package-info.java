/** What all calibrations of a method for a model need: sample texts, and what codes lose. */
package dev.kvasir.lab.calibrate;
