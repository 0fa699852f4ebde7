/** A chat model of Spring AI that runs within the process, and its auto-configuration. */
package dev.kvasir.spring;
