/**
 * Several models in one server: loading, unloading and their memory budget. Uses no other package.
 */
package dev.kvasir.server.models;
