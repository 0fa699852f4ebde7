/** Where conversations outlive memory and the process. */
package dev.kvasir.server.store;
