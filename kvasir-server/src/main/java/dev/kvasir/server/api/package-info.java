/**
 * What all endpoints share: access rules, typed request fields, and errors in the format of the
 * OpenAI API.
 *
 * <p>This package uses no other package of the server.
 */
package dev.kvasir.server.api;
