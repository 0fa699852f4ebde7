/** The example of Spring AI that the documentation shows. */
package dev.kvasir.examples.spring;
