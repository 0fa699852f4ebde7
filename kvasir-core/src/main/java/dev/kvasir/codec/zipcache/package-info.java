/**
 * ZipCache: more bits for salient tokens, and values normalized by channel. {@link
 * dev.kvasir.codec.zipcache.ZipcacheMethod} configures {@link dev.kvasir.codec.ranked}.
 *
 * <p>Uses the packages codec and codec.ranked.
 */
package dev.kvasir.codec.zipcache;
