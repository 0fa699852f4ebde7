/**
 * Evening out key channels before they are coded by token: keys are divided by a factor for each
 * channel and queries multiplied by it, which changes nothing but what the codes lose.
 */
package dev.kvasir.lab.smooth;
