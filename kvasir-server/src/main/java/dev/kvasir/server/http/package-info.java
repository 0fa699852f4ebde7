/**
 * The HTTP layer on Jetty: routing, access checks, server-sent events and static files. {@link
 * dev.kvasir.server.http.Endpoints} defines the routes.
 *
 * <p>This package uses all other packages of the server but its root.
 */
package dev.kvasir.server.http;
