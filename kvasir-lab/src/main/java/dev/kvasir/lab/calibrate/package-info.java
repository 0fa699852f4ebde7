/** What all calibrations of a method for a model need: sample texts, codes by token, a listener. */
package dev.kvasir.lab.calibrate;
