/**
 * What happens before and after inference: trying a cache on vectors or on tasks, calibrating a
 * method for a model, and showing what came out.
 */
package dev.kvasir.lab;
